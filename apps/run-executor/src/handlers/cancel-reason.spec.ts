import type { Caller } from '@runyard/contracts';
import { NO_RUN } from '../domain/run';
import { ControlsController } from './controls.controller';
import type { ControlPorts } from './controls.controller';

const ORG = '11111111-1111-4111-8111-111111111111';
const controls = new ControlsController({
  runs: { glance: async () => ({ run: NO_RUN, sequence: 0 }) },
} as unknown as ControlPorts);

async function codeOf(caller: Caller, input: object): Promise<string> {
  try {
    await controls.cancel(caller, { run_id: 'run_1', ...input });
    return 'ok';
  } catch (error) {
    return (error as { code: string }).code;
  }
}
const person: Caller = { org: ORG, actor: 'user:u1', userId: null, roles: ['admin'] };
const scheduler: Caller = { org: ORG, actor: 'system:scheduler', userId: null, roles: ['operator'] };

describe('the reason of a cancel', () => {
  it('is the platform’s to give', async () => {
    expect(await codeOf(person, { reason: 'replaced' })).toBe('forbidden');
    // Past the check: there is no such run.
    expect(await codeOf(scheduler, { reason: 'replaced' })).toBe('not_found');
    expect(await codeOf(person, {})).toBe('not_found');
  });

  it('is one that a caller may know', async () => {
    expect(await codeOf(scheduler, { reason: 'agent_stopped' })).toBe('invalid_request');
  });
});
