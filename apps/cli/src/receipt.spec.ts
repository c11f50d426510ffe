import { copiesOf } from './receipt';

test('a receipt names the file of the queue only where requests wait in it', () => {
  const wal = { lsn: '0/1', archiving: 'off' };
  const of = (waiting: number) => copiesOf({ wal, waiting, related: [] }).join('\n');
  expect(of(0)).not.toContain('REQUESTS');
  expect(of(3)).toContain(
    "the file of REQUESTS on the log's server, where its request lies beside 3 that wait",
  );
});
