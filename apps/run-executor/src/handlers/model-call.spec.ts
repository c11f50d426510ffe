import { MAX_COMMIT_BYTES } from '@runyard/contracts';
import type { DefinitionSnapshot } from '@runyard/contracts';
import type { ModelTurn } from '../models/types';
import { callModelOnce } from './model-call.process';
import type { ModelCallPorts, ModelCallWork } from './model-call.process';
import { Texts } from './texts.adapter';

const USAGE = { input: 7, output: 5, cached: 0, estimated: false };

const SILENT_TURN = {
  text: null,
  reasoning: null,
  providerState: null,
  model: 'm',
  finish: 'stop',
  providerReason: 'stop',
  usage: USAGE,
};

/** What is recorded of a turn that asks for `calls` calls with names and ids of `length` characters. */
function recorded(calls: number, length: number) {
  const name = '界'.repeat(length);
  const call = { providerCallId: name, tool: name, arguments: '{}' };
  const turn = {
    ...SILENT_TURN,
    toolCalls: Array.from({ length: calls }, () => call),
  } as unknown as ModelTurn;
  const ports: ModelCallPorts = {
    models: () => ({ call: () => Promise.resolve({ ok: true, turn }) }),
    texts: new Texts({ put: () => Promise.resolve('digest'), get: () => Promise.resolve(undefined) }),
    clock: () => 0,
    random: () => 0,
  };
  const route = { modelId: 'm1', provider: { kind: 'recorded' }, contextWindow: 1_000, maxOutputTokens: 100 };
  const work = {
    org: 'org',
    overheadBytes: 0,
    deadlineLeftMs: 1_000,
    signal: new AbortController().signal,
    run: { transcript: { buffer: [], length: 0, bytes: 0 } },
    phase: {
      name: 'calling_model',
      step: 1,
      attempt: 1,
      route: 0,
      routeAttempt: 1,
      worstCaseInput: 10,
      maxOutputTokens: 100,
    },
    definition: { models: [route], tools: [], systemPrompt: '' } as unknown as DefinitionSnapshot,
  } as unknown as ModelCallWork;
  return callModelOnce(ports, work);
}

describe('a turn with many calls', () => {
  it('is recorded where it fits a commit', async () => {
    expect(await recorded(256, 20)).toMatchObject({ type: 'ModelTurnCompleted' });
    expect(await recorded(8, 5_000)).toMatchObject({ type: 'ModelTurnCompleted' });
  });

  it('fails with what it cost where it does not, instead of being bought again', async () => {
    const fact = await recorded(256, 256);
    expect(fact).toMatchObject({
      type: 'ModelCallFailed',
      data: { error: { code: 'provider_invalid' }, next: 'give_up', usage: USAGE },
    });
    expect(JSON.stringify(fact).length).toBeLessThan(MAX_COMMIT_BYTES);
  });
});
