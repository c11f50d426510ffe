import type { DomainEvent } from '@runyard/contracts';
import { Problem, subjectOf } from '@runyard/contracts';
import { decodeCommit, encodeCommit } from './commit';
import type { Aggregate, Decider, EventLog, NewCommit, RawCommit } from './index';
import { UnknownEvent, VersionConflict, foldCache, handle, handleTogether, load } from './index';

type Counted = DomainEvent<'Counted', { by: number }>;
type Closed = DomainEvent<'Closed', Record<string, never>>;
interface Counter {
  total: number;
  closed: boolean;
}
type Command = { add: number } | 'close';

const counter: Decider<Counter, Command, Counted | Closed> = {
  initial: { total: 0, closed: false },
  evolve: (state, event) =>
    event.type === 'Closed' ? { ...state, closed: true } : { ...state, total: state.total + event.data.by },
  decide(state, command) {
    if (command === 'close') return state.closed ? [] : [{ type: 'Closed', data: {} }];
    if (state.closed) throw new Problem('conflict', 'The counter is closed');
    return [{ type: 'Counted', data: { by: command.add } }];
  },
};

const subject = subjectOf('agents', 'acme', 'counter');
const meta = { actor: 'user:u1', source: 'test' } as const;

/** Two methods of the log over an array; appends and reads go through the real encoding. */
function memoryLog() {
  const commits: RawCommit[] = [];
  const calls = { read: 0, append: 0 };
  const log: Pick<EventLog, 'read' | 'append'> & { beforeAppend?: () => void } = {
    async read(wanted, after = 0) {
      calls.read++;
      return commits.filter((one) => one.subject === wanted && one.sequence > after).map(decodeCommit);
    },
    async append(commit) {
      calls.append++;
      const before = log.beforeAppend;
      log.beforeAppend = undefined;
      before?.();
      return store(commit);
    },
  };
  function store(commit: NewCommit) {
    const last = commits.findLast((one) => one.subject === commit.subject)?.sequence ?? 0;
    if (last !== commit.expected)
      throw new VersionConflict(commit.subject, commit.expected, last > commit.expected ? last : undefined);
    const time = Math.max(1_000 + commits.length, commit.notBefore ?? 0);
    const sequence = commits.length + 1;
    const body = encodeCommit(commit, `id${sequence}`, 'acme', 'counter', time);
    commits.push({
      stream: 'AGENTS',
      subject: commit.subject,
      sequence,
      commitId: `id${sequence}`,
      storedAt: time,
      headers: {},
      body,
    });
    return { stream: 'AGENTS' as const, sequence, commitId: `id${sequence}`, time, recovered: false };
  }
  const counted = (by: number) =>
    store({ subject, expected: commits.length, events: [{ type: 'Counted', data: { by } }], meta });
  return { log, store, counted, commits, calls };
}

const aggregate = (
  more: Partial<Aggregate<Counter, Command, Counted | Closed>> = {},
): Aggregate<Counter, Command, Counted | Closed> => ({
  subject,
  context: 'agents',
  decider: counter,
  isKnown: { Counted: true, Closed: true },
  ...more,
});

describe('handle', () => {
  it('reads, folds, decides and appends; answers state, events and position', async () => {
    const { log, counted } = memoryLog();
    counted(3);
    const handled = await handle(log, aggregate(), { add: 4 }, meta);
    expect(handled).toEqual({
      state: { total: 7, closed: false },
      events: [{ type: 'Counted', data: { by: 4 }, time: expect.any(Number) as number, actor: 'user:u1' }],
      position: '2.0',
    });
  });

  it('appends nothing for a wish that is already true', async () => {
    const { log, calls } = memoryLog();
    await handle(log, aggregate(), 'close', meta);
    const handled = await handle(log, aggregate(), 'close', meta);
    expect(handled).toEqual({ state: { total: 0, closed: true }, events: [], position: '1.0' });
    expect(calls.append).toBe(1);
  });

  it('names no position where there is nothing', async () => {
    const { log } = memoryLog();
    const decider = { ...counter, decide: () => [] };
    expect((await handle(log, aggregate({ decider }), 'close', meta)).position).toBe('0.0');
  });

  it('passes a refusal on', async () => {
    const { log } = memoryLog();
    await handle(log, aggregate(), 'close', meta);
    await expect(handle(log, aggregate(), { add: 1 }, meta)).rejects.toMatchObject({ code: 'conflict' });
  });

  it('decides anew after a conflict', async () => {
    const { log, counted } = memoryLog();
    log.beforeAppend = () => counted(10);
    expect((await handle(log, aggregate(), { add: 1 }, meta)).state.total).toBe(11);
  });

  it('gives up on an aggregate that never stands still', async () => {
    const { log, counted } = memoryLog();
    const always: typeof log = {
      read: (...args) => log.read(...args),
      append: (commit) => (counted(1), log.append(commit)),
    };
    await expect(handle(always, aggregate(), { add: 1 }, meta)).rejects.toThrow(VersionConflict);
  });

  it('retries on nothing but a conflict', async () => {
    const { log, calls } = memoryLog();
    log.beforeAppend = () => {
      throw new Error('down');
    };
    await expect(handle(log, aggregate(), { add: 1 }, meta)).rejects.toThrow('down');
    expect(calls.append).toBe(1);
  });

  it('refuses an aggregate with an event that it does not know (P8.9)', async () => {
    const { log, store } = memoryLog();
    store({ subject, expected: 0, events: [{ type: 'Renamed', data: {} }], meta });
    const refused = handle(log, aggregate(), { add: 1 }, meta);
    await expect(refused).rejects.toBeInstanceOf(UnknownEvent);
    await expect(refused).rejects.toMatchObject({
      code: 'unavailable',
      facts: { type: 'runyard.Renamed.v1' },
    });
  });

  it('refuses a decider of another context', async () => {
    await expect(load(memoryLog().log, aggregate({ context: 'runs' }))).rejects.toThrow(TypeError);
  });

  it('never lets time run backwards', async () => {
    const { log, store, commits } = memoryLog();
    store({
      subject,
      expected: 0,
      events: [{ type: 'Counted', data: { by: 1 } }],
      meta,
      notBefore: 9_999_999,
    });
    await handle(log, aggregate(), { add: 1 }, meta);
    expect(commits.map((commit) => commit.storedAt)).toEqual([9_999_999, 9_999_999]);
  });
});

describe('handle with a cache', () => {
  it('appends on the cached state without reading', async () => {
    const { log, calls } = memoryLog();
    const cached = aggregate({ cache: foldCache() });
    for (let i = 0; i < 5; i++) await handle(log, cached, { add: 1 }, meta);
    expect(calls).toEqual({ read: 1, append: 5 });
    expect((await load(log, cached)).state.total).toBe(5);
  });

  it('finds a stale cache out by the append and decides anew', async () => {
    const { log, counted } = memoryLog();
    const cached = aggregate({ cache: foldCache() });
    await handle(log, cached, { add: 1 }, meta);
    counted(10);
    expect((await handle(log, cached, { add: 1 }, meta)).state.total).toBe(12);
  });

  it('believes neither a refusal nor a wish come true on a stale cache', async () => {
    const { log, store } = memoryLog();
    const cached = aggregate({ cache: foldCache() });
    await handle(log, cached, 'close', meta);
    const reopening = {
      ...counter,
      evolve: (state: Counter, event: Counted | Closed) => ({
        ...counter.evolve(state, event),
        closed: event.type === 'Closed',
      }),
    };
    store({ subject, expected: 1, events: [{ type: 'Counted', data: { by: 1 } }], meta });
    const handled = await handle(log, { ...cached, decider: reopening }, { add: 1 }, meta);
    expect(handled.state).toEqual({ total: 2, closed: false });
  });

  it('starts from nothing where the aggregate was erased under the cache', async () => {
    const { log, commits } = memoryLog();
    const cached = aggregate({ cache: foldCache() });
    await handle(log, cached, { add: 7 }, meta);
    commits.length = 0;
    expect((await handle(log, cached, { add: 1 }, meta)).state.total).toBe(1);
  });

  it('forgets the state that was not used for longest', () => {
    const cache = foldCache<number>(2);
    for (const name of ['a', 'b', 'c'])
      cache.set(name, { state: 1, sequence: 1, index: 0, time: 0, unknown: undefined });
    expect([cache.get('a'), cache.get('c')?.state]).toEqual([undefined, 1]);
  });
});

describe('handleTogether', () => {
  it('puts what several people asked for into one commit, each event under its own name', async () => {
    const { log, commits } = memoryLog();
    const handled = await handleTogether(log, aggregate(), meta, () => [
      { type: 'Counted', data: { by: 1 }, meta: { actor: 'user:u2' } },
      { type: 'Counted', data: { by: 2 } },
    ]);
    expect(handled).toMatchObject({ state: { total: 3 }, position: '1.1' });
    expect(commits.map((raw) => decodeCommit(raw).events.map((event) => event.actor))).toEqual([
      ['user:u2', 'user:u1'],
    ]);
    expect(handled.events.map((event) => event.actor)).toEqual(['user:u2', 'user:u1']);
  });
});
