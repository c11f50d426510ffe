import type { Caller, NewEvent } from '@runyard/contracts';
import type { NewRunEvent } from '../domain/decision';
import { fold } from '../domain/evolve';
import { NO_MATERIAL } from '../domain/material';
import { dated } from '../domain/next';
import { NO_RUN } from '../domain/run';
import type { RunQueries } from '../projections/run.queries';
import { queued, started } from '../projections/sample-events';
import type { Executor } from './assembly.process';
import { ConversationsController } from './conversations.controller';

const ORG = '11111111-1111-4111-8111-111111111111';
const OWNER: Caller = { org: ORG, actor: 'user:owner', userId: 'owner', roles: ['member'] };
const CANCELLED: NewEvent = { type: 'RunCancelled', data: { reason: 'user' } };

/** A conversation of the owner's whose slot names `holder`, with that log; rows know of no run yet. */
function controllerOver(holder: string | null, log: readonly NewEvent[] = [], erased = false) {
  const run = fold(
    NO_RUN,
    (log as NewRunEvent[]).map((event) => dated(event, 1)),
    NO_MATERIAL,
  );
  const decide = jest.fn((..._asked: unknown[]) => Promise.resolve({ position: '1.0', time: 1 }));
  const executor = {
    operations: { holderOf: () => Promise.resolve(holder) },
    runs: {
      glance: () => Promise.resolve({ run, sequence: log.length }),
      erased: () => Promise.resolve(erased ? { previousRunId: null } : undefined),
    },
    conversations: { decide },
  };
  const queries = {
    conversation: () => Promise.resolve({ conversation_id: 'talk', user_id: 'owner' }),
    list: () => Promise.resolve({ data: [], next_cursor: null }),
  };
  const controller = new ConversationsController(
    executor as unknown as Executor,
    queries as unknown as RunQueries,
  );
  const busy = async () => {
    await controller.delete(OWNER, { conversation_id: 'talk' });
    return decide.mock.calls[0]?.[3];
  };
  return { controller, busy, decide };
}

describe('deleting a conversation', () => {
  it('finds a run under way that the rows do not show yet, or show to nobody but another', async () => {
    expect(await controllerOver('run', [queued('run'), started()]).busy()).toMatchObject({ busy: true });
    expect(await controllerOver('unborn').busy()).toMatchObject({ busy: true });
    // A log that was emptied belongs to a run that has ended.
    expect(await controllerOver('erased', [], true).busy()).toMatchObject({ busy: false });
    expect(await controllerOver('run', [queued('run'), CANCELLED]).busy()).toMatchObject({ busy: false });
    expect(await controllerOver(null).busy()).toMatchObject({ busy: false });
  });

  it('is for its owner and for admins, not for whoever may see a run in it', async () => {
    const { controller, decide } = controllerOver(null);
    const guest: Caller = { ...OWNER, actor: 'user:guest', userId: 'guest' };
    await expect(controller.delete(guest, { conversation_id: 'talk' })).rejects.toMatchObject({
      code: 'forbidden',
    });
    expect(decide).not.toHaveBeenCalled();
    await controller.delete({ ...guest, roles: ['admin'] }, { conversation_id: 'talk' });
    expect(decide).toHaveBeenCalledTimes(1);
  });
});
