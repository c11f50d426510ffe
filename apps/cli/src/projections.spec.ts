import { PROJECTIONS, nameOf } from './projections';

// ADR 0019: a projection without a pace is woken for every commit of every run, and costs more than all that it does.
test('every projection of the runs lets commits gather', () => {
  const readers = PROJECTIONS.filter(({ projection }) => projection.stream === 'RUNS');
  expect(readers.map(nameOf)).toContain('bulk-actions');
  expect(readers.filter(({ projection }) => !projection.gatherMs).map(nameOf)).toEqual([]);
});
