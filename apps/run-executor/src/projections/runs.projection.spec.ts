import { CONVERSATION_EVENTS, RUN_EVENTS } from '@runyard/contracts';
import type { ProjectedCommit } from '@runyard/persistence';
import { CommitReader } from './commits';
import type { UnknownEvent } from './commits';
import { randomLog, seeded } from './random-histories';
import { RunBatch } from './run-batch';
import { isEnded } from './run-image';
import type { RunImage, StepRow } from './run-image';
import { EPOCH, RunLog } from './run-log';
import * as call from './sample-calls';
import * as sample from './sample-events';
import { text } from './sample-texts';

const NOTHING = {
  runs: [],
  deletedRuns: new Set<string>(),
  erasedOrgs: new Set<string>(),
  deletedConversations: new Map(),
};
const KNOWN = new Set([...Object.keys(RUN_EVENTS), ...Object.keys(CONVERSATION_EVENTS)]);

function folded(commits: readonly ProjectedCommit[]): { batch: RunBatch; unknown: UnknownEvent[] } {
  const unknown: UnknownEvent[] = [];
  const reader = new CommitReader(KNOWN, (event) => unknown.push(event));
  const batch = new RunBatch(NOTHING);
  for (const commit of commits) batch.apply(reader.read(commit));
  return { batch, unknown };
}

/** Given commits of one run, the image of its rows. */
function given(...commits: readonly Parameters<RunLog['run']>[1][]): RunImage {
  const log = new RunLog();
  for (const events of commits) log.run('run_1', events);
  const image = folded(log.commits).batch.runs.get('run_1');
  if (!image) throw new Error('no row');
  return image;
}

const trajectory = (image: RunImage): Record<string, any>[] =>
  image.entries.toSorted((a, b) => a.place - b.place).map(({ entry }) => entry);
const inOrder = (steps: readonly StepRow[]): StepRow[] => steps.toSorted((a, b) => a.seq - b.seq);

describe('a run from its queueing to its end', () => {
  test('the row exists from queueing and has not started', () => {
    const { row, birth } = given([sample.queued('run_1')]);
    expect(row).toMatchObject({
      state: 'queued',
      started_at: null,
      ended_at: null,
      model: '',
      steps: 0,
      position: '1.0',
    });
    expect(birth).toMatchObject({
      agent_id: 'librarian',
      tier: 'fast',
      trigger: 'manual',
      created_at: EPOCH + 10,
    });
  });

  test('counts and tokens are those of its own calls, failed attempts and estimates included', () => {
    const { row } = given(
      [sample.queued('run_1')],
      [sample.started(), sample.snapshot(), sample.calling(1)],
      [sample.attemptFailed(1, 1, sample.usage(7, 0, 0, true)), sample.calling(1, 2)],
      [sample.turn(1, ['search'], { usage: sample.usage(100, 20, 30) }), call.callStarted('c1-0', 'search')],
      [call.callSucceeded('c1-0', 'search'), sample.calling(2)],
      [sample.turn(2, [], { model: 'large-2' }), sample.succeeded()],
    );
    expect(row).toMatchObject({
      state: 'succeeded',
      termination: 'Completed',
      reason: null,
      output: 'Nothing is due.',
      input_tokens: 207,
      output_tokens: 40,
      cached_tokens: 30,
      model_calls: 3,
      tool_calls: 1,
      steps: 2,
      model: 'large-2',
      started_at: EPOCH + 20,
      ended_at: EPOCH + 60,
      position: '6.1',
    });
  });

  test('what a provider reports is never negative nor a fraction', () => {
    const usage = { input: -5, output: 1.5, cached: Number.NaN, estimated: false };
    const { row } = given([sample.queued('run_1')], [sample.started()], [sample.turn(1, [], { usage })]);
    expect(row).toMatchObject({ input_tokens: 0, output_tokens: 1, cached_tokens: 0 });
  });

  test('what a provider reports can be summed up and read again, however much it is', () => {
    const usage = sample.usage(1e300, Number.MAX_SAFE_INTEGER);
    const { row } = given([sample.queued('run_1')], [sample.started()], [sample.turn(1, [], { usage })]);
    expect(Number.isSafeInteger(row.input_tokens + row.output_tokens)).toBe(true);
  });

  test('a skipped run ends at its birth and never starts', () => {
    const { row, entries } = given([sample.skipped('run_1', 'run_0')]);
    expect(row).toMatchObject({
      state: 'skipped',
      reason: 'already_running',
      termination: null,
      started_at: null,
      ended_at: EPOCH + 10,
    });
    expect(entries).toEqual([]);
  });

  test('a failure at birth leaves a used up key and no row', () => {
    const log = new RunLog();
    log.run('run_1', [sample.failed()]);
    const { batch } = folded(log.commits);
    expect(batch.runs.size).toBe(0);
    expect(batch.fenced).toMatchObject([{ run_id: 'run_1' }]);
  });

  test('terminal is final', () => {
    const { row, steps } = given(
      [sample.queued('run_1')],
      [sample.started()],
      [sample.cancelled()],
      [sample.turn(1, []), sample.succeeded()],
    );
    expect(row).toMatchObject({ state: 'cancelled', position: '3.0', sequence: 3, steps: 0 });
    expect(steps).toEqual([]);
  });

  test('controls move the row as they move the run', () => {
    const { row, driver } = given(
      [sample.queued('run_1')],
      [sample.started()],
      [sample.extended()],
      [sample.modeSet()],
      [sample.pauseRequested()],
      [sample.paused(EPOCH + 5_000)],
    );
    expect(row).toMatchObject({
      state: 'paused',
      mode: 'auto',
      grant_tokens: 201_000,
      pause_requested: false,
      pause_expires_at: EPOCH + 5_000,
    });
    expect(row.bounds).toMatchObject({
      maxSteps: 30,
      maxToolCalls: 101,
      tokenBudget: 201_000,
      deadlineSeconds: 3_660,
    });
    expect(driver).toBeNull();
  });
});

describe('steps and trajectory', () => {
  const parallel = [
    [sample.queued('run_1')],
    [sample.started()],
    [
      sample.turn(1, ['search', 'read', 'write']),
      sample.snapshot(),
      call.callStarted('c1-0', 'search'),
      call.callStarted('c1-1', 'read'),
    ],
    [call.callSucceeded('c1-1', 'read', text('second'))],
    [call.callDenied('c1-2', 'write')],
    [call.callFailed('c1-0', 'search', { willRetry: true })],
  ];

  test('calls stand in call order however their results came in, and a call that will be retried is no step yet', () => {
    const image = given(...parallel);
    expect(inOrder(image.steps).map(({ seq, kind, tool }) => [seq, kind, tool])).toEqual([
      [1, 'model_turn', undefined],
      [3, 'tool_call', 'read'],
      [4, 'tool_call', 'write'],
    ]);
    const settled = given(
      ...parallel,
      [call.callStarted('c1-0', 'search', { attempt: 2 })],
      [call.callSucceeded('c1-0', 'search', text('first'))],
    );
    expect(
      inOrder(settled.steps).map(({ seq, outcome, attempts, content }) => [seq, outcome, attempts, content]),
    ).toEqual([
      [1, 'succeeded', 1, null],
      [2, 'succeeded', 2, 'first'],
      [3, 'succeeded', 1, 'second'],
      [4, 'denied', 0, 'Denied: the run plans only.'],
    ]);
    expect(trajectory(settled).map(({ kind, role, call_id }) => [kind, role ?? call_id ?? ''])).toEqual([
      ['definition', ''],
      ['message', 'user'],
      ['message', 'assistant'],
      ['snapshot', ''],
      ['tool_call', 'c1-0'],
      ['tool_call', 'c1-1'],
      ['tool_call', 'c1-2'],
      ['tool_result', 'c1-0'],
      ['tool_result', 'c1-1'],
      ['tool_result', 'c1-2'],
    ]);
    expect(settled.row.tool_calls).toBe(3);
    expect(settled.progress.turn).toBeNull();
  });

  test('decisions stand on the step of their call', () => {
    const [, , , denied] = inOrder(given(...parallel, [call.callSucceeded('c1-0', 'search')]).steps);
    expect(denied).toMatchObject({
      decided_by: 'rule',
      rule_id: 'rule-1',
      group_key: 'writes',
      outcome: 'denied',
    });
  });

  test('texts and arguments stay strings, also where they hold JSON', () => {
    const [, , message] = trajectory(
      given([sample.queued('run_1')], [sample.started()], [sample.turn(1, ['search'])]),
    );
    expect(message?.tool_calls[0].arguments).toBe('{"query": "search 1"}');
  });

  test('a text that is stored apart is named by digest', () => {
    const result = { preview: 'the beginning', digest: 'f'.repeat(64), bytes: 90_000 };
    const image = given(
      [sample.queued('run_1')],
      [sample.started()],
      [sample.turn(1, ['read']), call.callStarted('c1-0', 'read')],
      [call.callSucceeded('c1-0', 'read', result)],
    );
    expect(image.steps[1]).toMatchObject({
      content: 'the beginning',
      content_digest: 'f'.repeat(64),
      content_bytes: 90_000,
    });
    expect(trajectory(image).at(-1)?.content).toEqual(result);
  });

  test('a run that ends with a call in flight says that its effect is unknown', () => {
    const image = given(
      [sample.queued('run_1')],
      [sample.started()],
      [sample.turn(1, ['write', 'search']), call.callStarted('c1-0', 'write')],
      [call.callAmbiguous('c1-0', 'write')],
      [sample.cancelled()],
    );
    expect(image.steps.slice(1)).toMatchObject([
      {
        seq: 2,
        outcome: 'failed',
        error_code: 'unknown_effect',
        content: 'Nobody knows whether it happened.',
      },
    ]);
    expect(trajectory(image).filter(({ kind }) => kind === 'tool_result')).toHaveLength(1);
  });

  test('rows and entries tell the same story, whatever happened', () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { batch } = folded(randomLog(seeded(seed), 10).commits);
      for (const image of batch.runs.values()) agrees(image, seed);
    }
  });
});

function agrees(image: RunImage, seed: number): void {
  const steps = inOrder(image.steps);
  const entries = trajectory(image);
  const turns = entries.filter(({ kind, role }) => kind === 'message' && role === 'assistant');
  const results = entries.filter(({ kind }) => kind === 'tool_result');
  const calls = entries.filter(({ kind }) => kind === 'tool_call');
  const told = (items: readonly Record<string, any>[]) =>
    items.map(({ step, call_id, tool, outcome }) => [step, call_id, tool, outcome]);
  const ofKind = (kind: string) => steps.filter((step) => step.kind === kind);
  expect({ seed, turns: turns.map(({ step, model }) => [step, model]) }).toEqual({
    seed,
    turns: ofKind('model_turn').map(({ step, model }) => [step, model]),
  });
  expect({ seed, results: told(results) }).toEqual({ seed, results: told(ofKind('tool_call')) });
  expect({
    seed,
    tokens: sum(ofKind('model_turn').map((step) => step.input_tokens ?? 0)) <= image.row.input_tokens,
  }).toEqual({ seed, tokens: true });
  expect(image.row.steps).toBe(turns.length);
  expect(image.row.tool_calls).toBe(calls.length);
  expect(new Set(steps.map(({ seq }) => seq)).size).toBe(steps.length);
  expect(new Set(image.entries.map(({ place }) => place)).size).toBe(entries.length);
  if (isEnded(image)) expect(results.length).toBe(calls.length);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

describe('commits', () => {
  test('delivered twice changes nothing', () => {
    const { commits } = randomLog(seeded(7), 12);
    const twice = commits.flatMap((commit) => [commit, commit]);
    const images = (batch: RunBatch) => [...batch.runs.values()];
    expect(images(folded([...twice, ...commits.slice(-5)]).batch)).toEqual(images(folded(commits).batch));
  });

  test('C59 a damaged commit stops with stream, position and type (hallgren/eventsourcing#160)', () => {
    const log = new RunLog(4_999);
    const good = log.run('run_1', [sample.queued('run_1')]);
    const damaged = { ...good, body: new TextEncoder().encode('[{"type":') };
    expect(() => folded([damaged])).toThrow('RUNS at position 5000.0 is damaged: its body is not JSON');
    const empty = log.run('run_1', [{ type: 'ModelTurnCompleted', data: null }]);
    expect(() => folded([good, empty])).toThrow(/RUNS at position 5001\.0 \(ModelTurnCompleted\) is damaged/);
  });

  test('C59 unknown types are reported and skipped, the events beside them are not (hallgren/eventsourcing#160)', () => {
    const log = new RunLog();
    log.run(
      'run_1',
      [
        sample.queued('run_1'),
        { type: 'runyard.RunBlessed.v1', data: {} },
        { type: 'legacy.foo', data: {} },
        { type: 'runyard.RunStarted.v9', data: {} },
      ].map((event) => (event.type === 'legacy.foo' ? { ...event, type: 'runyard.legacy.foo' } : event)),
    );
    log.run('run_1', [sample.started()]);
    const { batch, unknown } = folded(log.commits);
    expect(unknown).toEqual([
      { type: 'runyard.RunBlessed.v1', sequence: 1, position: '1.1' },
      { type: 'runyard.legacy.foo', sequence: 1, position: '1.2' },
      { type: 'runyard.RunStarted.v9', sequence: 1, position: '1.3' },
    ]);
    expect(batch.runs.get('run_1')?.row.state).toBe('running');
  });
});
