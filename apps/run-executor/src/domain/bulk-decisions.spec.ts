import type { BulkEvent, BulkResult } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import { evolveBulkAction, NO_BULK_ACTION, underWay } from './bulk-action';
import type { BulkAction, BulkWish } from './bulk-action';
import { decideBulkAction } from './bulk-decisions';
import type { BulkCommand } from './bulk-decisions';

const WISH: BulkWish = { action: 'cancel', filter: { agent_id: 'clerk' }, userId: 'u1', roles: ['member'] };
const DECIDER = { initial: NO_BULK_ACTION, evolve: evolveBulkAction, decide: decideBulkAction };
const given = deciderSpec<BulkAction, BulkCommand, BulkEvent>(DECIDER);

const started = { type: 'BulkActionStarted' as const, data: WISH };
const chosen = (runIds: string[], complete = true) => ({
  type: 'BulkRunsChosen' as const,
  data: { runIds, complete },
});
const begun = (count: number) => ({ type: 'BulkRunsBegun' as const, data: { count } });
const result = (runId: string, outcome: BulkResult['outcome'] = 'done'): BulkResult => ({
  runId,
  outcome,
  state: 'cancelled',
  code: null,
  detail: null,
  newRunId: null,
});
const handled = (...runIds: string[]) => ({
  type: 'BulkRunsHandled' as const,
  data: { results: runIds.map((id) => result(id)) },
});
const abortRequested = { type: 'BulkAbortRequested' as const, data: {} };
const aborted = (untouched: number) => ({ type: 'BulkActionAborted' as const, data: { untouched } });
const completed = { type: 'BulkActionCompleted' as const, data: {} };

const start: BulkCommand = { type: 'StartBulkAction', wish: WISH };
const abort: BulkCommand = { type: 'AbortBulkAction' };
const choose = (after: number, runIds: string[], complete = true): BulkCommand => ({
  type: 'ChooseRuns',
  after,
  runIds,
  complete,
  most: 2,
});
const record = (from: number, ...runIds: string[]): BulkCommand => ({
  type: 'RecordResults',
  from,
  results: runIds.map((id) => result(id)),
  most: 2,
});

describe('a bulk action', () => {
  test('begins once, however often it is asked for under its key', () => {
    given().when(start).then(started);
    given(started).when(start).thenNothing();
    given(started, chosen([]), completed).when(start).thenNothing();
  });

  test('another wish under its key is refused', () => {
    const other = { ...WISH, filter: { agent_id: 'other' } };
    given(started).when({ type: 'StartBulkAction', wish: other }).thenRefused('idempotency_key_reused');
    const wider = { ...WISH, filter: {} };
    given(started).when({ type: 'StartBulkAction', wish: wider }).thenRefused('idempotency_key_reused');
  });

  test('chooses page by page, and begins only when all are chosen', () => {
    given(started)
      .when(choose(0, ['a', 'b'], false))
      .then(chosen(['a', 'b'], false));
    given(started, chosen(['a', 'b'], false))
      .when(choose(2, ['c']))
      .then(chosen(['c']), begun(2));
  });

  test('a page that another process has chosen meanwhile is dropped', () => {
    given(started, chosen(['a', 'b'], false))
      .when(choose(0, ['a', 'b'], false))
      .thenNothing();
    given(started, chosen(['a']), begun(1))
      .when(choose(1, ['b']))
      .thenNothing();
  });

  test('that finds nothing is complete', () => {
    given(started).when(choose(0, [])).then(chosen([]), completed);
  });

  test('records results together with what it begins next, and ends with the last', () => {
    const before = [started, chosen(['a', 'b', 'c']), begun(2)] as const;
    given(...before)
      .when(record(0, 'a', 'b'))
      .then(handled('a', 'b'), begun(1));
    given(...before, handled('a', 'b'), begun(1))
      .when(record(2, 'c'))
      .then(handled('c'), completed);
  });

  test('results that somebody else has recorded are not recorded again', () => {
    const before = [started, chosen(['a', 'b', 'c']), begun(2), handled('a', 'b'), begun(1)] as const;
    given(...before)
      .when(record(0, 'a', 'b'))
      .thenNothing();
    given(...before, handled('c'), completed)
      .when(record(2, 'c'))
      .thenNothing();
  });

  test('an abort ends it at once where nothing is under way', () => {
    given(started).when(abort).then(abortRequested, aborted(0));
    given(started, chosen(['a'], false))
      .when(abort)
      .then(abortRequested, aborted(1));
  });

  test('an abort lets what is under way finish, and records it', () => {
    const before = [started, chosen(['a', 'b', 'c']), begun(2)] as const;
    given(...before)
      .when(abort)
      .then(abortRequested);
    given(...before, abortRequested)
      .when(abort)
      .thenNothing();
    given(...before, abortRequested)
      .when(record(0, 'a', 'b'))
      .then(handled('a', 'b'), aborted(1));
  });

  test('an abort that comes while the last runs are told changes nothing', () => {
    const before = [started, chosen(['a']), begun(1), abortRequested] as const;
    given(...before)
      .when(record(0, 'a'))
      .then(handled('a'), completed);
  });

  test('an abort of one that has ended: harmless where it was aborted, senseless where it completed', () => {
    given(started, abortRequested, aborted(0)).when(abort).thenNothing();
    given(started, chosen([]), completed).when(abort).thenRefused('conflict');
    given().when(abort).thenRefused('not_found');
  });

  test('nothing is decided about one that has ended', () => {
    given(started, abortRequested, aborted(0))
      .when(choose(0, ['a']))
      .thenNothing();
    given(started, abortRequested, aborted(0)).when({ type: 'GoOn', most: 2 }).thenNothing();
  });
});

/** Two drivers that know nothing of each other, and somebody who aborts: every order of what they do. */
test('in every interleaving of two drivers and an abort each run has at most one result, and it ends once', () => {
  const ids = ['a', 'b', 'c', 'd', 'e'];
  const apply = (state: BulkAction, command: BulkCommand): BulkAction =>
    decideBulkAction(state, command).reduce<BulkAction>(
      (before, event) => evolveBulkAction(before, { ...event, time: 1, actor: 'user:u1' }),
      state,
    );
  /** What a driver that has seen `state` does next. */
  const moveOf = (state: BulkAction): BulkCommand => {
    if (state.situation !== 'open') return { type: 'GoOn', most: 2 };
    const runs = underWay(state);
    if (runs.length > 0) return record(state.handled, ...runs);
    const { length } = state.runIds;
    return state.chosen
      ? { type: 'GoOn', most: 2 }
      : choose(length, ids.slice(length, length + 3), length > 0);
  };
  const keyOf = (state: BulkAction): string =>
    state.situation === 'absent'
      ? ''
      : [state.situation, state.runIds.length, state.begun, state.handled, state.abort !== null].join();
  const visited = new Set<string>();
  const ways: string[] = [];
  const visit = (state: BulkAction, seen: readonly [BulkAction, BulkAction], mayAbort: boolean): void => {
    const key = [state, ...seen].map(keyOf).join(' ');
    if (visited.has(key) || state.situation === 'absent') return;
    visited.add(key);
    const { handled: count, begun: begunCount, runIds, outcomes } = state;
    expect([count <= begunCount, begunCount <= runIds.length, outcomes.done]).toEqual([true, true, count]);
    expect(new Set(runIds).size).toBe(runIds.length);
    if (state.situation === 'ended') {
      expect(count).toBe(begunCount);
      ways.push(`${state.how} after ${count} of ${runIds.length}`);
      return;
    }
    for (const driver of [0, 1] as const) {
      const other = seen[driver === 0 ? 1 : 0];
      const pair = (own: BulkAction): [BulkAction, BulkAction] =>
        driver === 0 ? [own, other] : [other, own];
      visit(apply(state, moveOf(seen[driver])), pair(state), mayAbort);
      visit(state, pair(state), mayAbort);
    }
    if (mayAbort) visit(apply(state, abort), seen, false);
  };
  const first = apply(NO_BULK_ACTION, start);
  visit(first, [first, first], true);
  expect([...new Set(ways)].toSorted()).toEqual([
    'aborted after 0 of 0',
    'aborted after 0 of 3',
    'aborted after 2 of 5',
    'aborted after 4 of 5',
    'completed after 5 of 5',
  ]);
});
