import type { AgentEvent } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import { NO_AGENT, etagOf, evolve } from './agent';
import type { AgentCommand, CatalogueView, OwnerView } from './agent-commands';
import { decide } from './agent-decisions';
import type { Asker } from './rights';

const given = deciderSpec<typeof NO_AGENT, AgentCommand, AgentEvent>({ initial: NO_AGENT, evolve, decide });

const OWNER = '11111111-1111-4111-8111-111111111111';
const OTHER = '22222222-2222-4222-8222-222222222222';
const owner: Asker = { userId: OWNER, roles: ['member'] };
const other: Asker = { userId: OTHER, roles: ['member'] };
const admin: Asker = { userId: OTHER, roles: ['admin'] };
const operator: Asker = { userId: OTHER, roles: ['operator'] };

const active: OwnerView = { standing: 'active', deactivations: 0 };
const catalogue: CatalogueView = {
  modelRows: { fast: 1, deep: 2 },
  defaultModelId: 'fast',
  toolRows: { lookup: 1, book: 3 },
};
const behaviour = {
  prompt: 'Help.',
  modelId: 'fast',
  tools: ['lookup'],
  bounds: {},
  approvalPolicy: 'park' as const,
  mode: 'ask' as const,
};
const details = {
  name: 'Helper',
  description: '',
  concurrency: 'agent' as const,
  overlap: 'skip' as const,
  catchUp: 'latest' as const,
  schedule: null,
  meta: {},
};
const wish = { behaviour, details, enabled: true, owner: active, catalogue, ownerId: OWNER };

const createdData = {
  ownerId: OWNER,
  version: 1,
  behaviour,
  details,
  enabled: true,
  ownerDeactivations: 0,
  modelRow: 1,
  toolRows: { lookup: 1 },
};
const created = { type: 'AgentCreated' as const, data: createdData };
const create: AgentCommand = { type: 'CreateAgent', asker: owner, ...wish };
const update = (changes: Partial<Extract<AgentCommand, { type: 'UpdateAgent' }>>): AgentCommand => ({
  type: 'UpdateAgent',
  asker: owner,
  catalogue,
  behaviour: {},
  details: {},
  ...changes,
});
const disabled = { type: 'AgentDisabled' as const, data: { reason: null } };
const deleted = (history: 'keep' | 'purge') => ({ type: 'AgentDeleted' as const, data: { history } });

describe('creating an agent', () => {
  it('starts at version 1 with what the author chose', () => given().when(create).then(created));

  it('preselects the default model where none is named, and none where there is no default', () => {
    given()
      .when({ ...create, behaviour: { ...behaviour, modelId: undefined } })
      .then(created);
    const empty = { modelRows: {}, defaultModelId: null, toolRows: { lookup: 1 } };
    const without = { ...createdData, behaviour: { ...behaviour, modelId: null }, modelRow: null };
    given()
      .when({ ...create, catalogue: empty, behaviour: { ...behaviour, modelId: undefined } })
      .then({ type: 'AgentCreated', data: without });
  });

  it('takes each tool once and drops bounds that are not set', () => {
    const bounds = { maxSteps: 3, tokenBudget: undefined };
    const [event] = given()
      .when({ ...create, behaviour: { ...behaviour, tools: ['book', 'lookup', 'book'], bounds } })
      .decided();
    expect(event?.data).toMatchObject({
      behaviour: { tools: ['book', 'lookup'] },
      toolRows: { book: 3, lookup: 1 },
    });
    expect(Object.keys((event as typeof created).data.behaviour.bounds)).toEqual(['maxSteps']);
  });

  it('refuses a model or tool that is on no list', () => {
    given()
      .when({ ...create, behaviour: { ...behaviour, modelId: 'nope' } })
      .thenRefused('invalid_request');
    given()
      .when({ ...create, behaviour: { ...behaviour, tools: ['nope'] } })
      .thenRefused('invalid_request');
  });

  it('is for oneself, or for others by an admin', () => {
    given()
      .when({ ...create, asker: other })
      .thenRefused('forbidden');
    given()
      .when({ ...create, asker: operator })
      .thenRefused('forbidden');
    given()
      .when({ ...create, asker: admin })
      .then(created);
  });

  it('needs an owner who is there and active', () => {
    given()
      .when({ ...create, owner: { standing: 'unknown', deactivations: 0 } })
      .thenRefused('invalid_request');
    given()
      .when({ ...create, owner: { standing: 'inactive', deactivations: 1 } })
      .thenRefused('owner_inactive');
  });

  it('refuses an id that is in use', () => given(created).when(create).thenRefused('already_exists'));

  it('lets the former owner alone use the id of an agent whose history is kept, and goes on with its numbers', () => {
    const past = [created, deleted('keep')] as const;
    given(...past)
      .when(create)
      .then({ type: 'AgentCreated', data: { ...createdData, version: 2 } });
    given(...past)
      .when({ ...create, asker: admin, ownerId: OTHER })
      .thenRefused('already_exists');
    given(created, deleted('purge'))
      .when({ ...create, asker: other, ownerId: OTHER })
      .then({ type: 'AgentCreated', data: { ...createdData, ownerId: OTHER, version: 2 } });
  });
});

describe('editing an agent', () => {
  it('makes a version of a change of behaviour, and none of a change of details', () => {
    const next = { ...behaviour, prompt: 'More.' };
    const revised = {
      type: 'AgentRevised' as const,
      data: { version: 2, behaviour: next, modelRow: 1, toolRows: { lookup: 1 } },
    };
    const edited = { type: 'AgentEdited' as const, data: { details: { ...details, name: 'New' } } };
    given(created)
      .when(update({ behaviour: { prompt: 'More.' } }))
      .then(revised);
    given(created)
      .when(update({ details: { name: 'New' } }))
      .then(edited);
    given(created)
      .when(update({ behaviour: { prompt: 'More.' }, details: { name: 'New' } }))
      .then(revised, edited);
  });

  it('says nothing where nothing changes', () =>
    given(created)
      .when(
        update({
          behaviour: { prompt: 'Help.', bounds: {}, tools: ['lookup', 'lookup'] },
          details: { meta: {} },
        }),
      )
      .thenNothing());

  it('is for the owner and admins', () => {
    given(created)
      .when(update({ asker: other, details: { name: 'x' } }))
      .thenRefused('forbidden');
    given(created)
      .when(update({ asker: operator, details: { name: 'x' } }))
      .thenRefused('forbidden');
    given(created)
      .when(update({ asker: admin, details: { name: 'x' } }))
      .then({ type: 'AgentEdited', data: { details: { ...details, name: 'x' } } });
  });

  it('refuses an edit of something that was changed since it was read', () => {
    given(created, disabled)
      .when(update({ ifMatch: '1.1', details: { name: 'x' } }))
      .thenRefused('version_mismatch');
    expect(
      given(created, disabled)
        .when(update({ ifMatch: '1.2', details: { name: 'x' } }))
        .decided(),
    ).toHaveLength(1);
  });

  it('refuses what is not there', () => {
    given().when(update({})).thenRefused('not_found');
    given(created, deleted('keep')).when(update({})).thenRefused('not_found');
  });

  it('keeps the incarnation of what stays and takes the present one of what is new', () => {
    const now = { ...catalogue, modelRows: { fast: 7 }, toolRows: { lookup: 7, book: 3 } };
    const [event] = given(created)
      .when(update({ catalogue: now, behaviour: { tools: ['lookup', 'book'] } }))
      .decided();
    expect(event?.data).toMatchObject({ modelRow: 1, toolRows: { lookup: 1, book: 3 } });
  });

  it('gives every event another etag, also across a deletion', () => {
    const history = [
      created,
      disabled,
      { type: 'AgentRevised' as const, data: { version: 2, behaviour } },
      deleted('keep'),
      { ...created, data: { ...createdData, version: 3 } },
      disabled,
    ];
    let state = NO_AGENT;
    const etags = history.map((event) =>
      etagOf((state = evolve(state, { ...event, time: 0, actor: 'system:test' } as AgentEvent))),
    );
    const whileThere = etags.filter((_, index) => history[index]?.type !== 'AgentDeleted');
    expect(new Set(whileThere).size).toBe(whileThere.length);
  });
});

describe('switch and lock', () => {
  const flip = (type: 'DisableAgent' | 'LockAgent' | 'UnlockAgent', asker: Asker): AgentCommand => ({
    type,
    asker,
    reason: 'why',
  });
  const enable = (asker: Asker, view: OwnerView = active): AgentCommand => ({
    type: 'EnableAgent',
    asker,
    reason: null,
    owner: view,
  });
  const locked = { type: 'AgentLocked' as const, data: { reason: null } };

  it('lets the owner alone switch', () => {
    given(created)
      .when(flip('DisableAgent', owner))
      .then({ type: 'AgentDisabled', data: { reason: 'why' } });
    given(created, disabled)
      .when(enable(owner))
      .then({ type: 'AgentEnabled', data: { reason: null, ownerDeactivations: 0 } });
    given(created).when(flip('DisableAgent', admin)).thenRefused('forbidden');
    given(created, disabled).when(enable(admin)).thenRefused('forbidden');
  });

  it('lets admins alone lock and release, whatever the switch says', () => {
    given(created, disabled)
      .when(flip('LockAgent', admin))
      .then({ type: 'AgentLocked', data: { reason: 'why' } });
    given(created, locked)
      .when(flip('UnlockAgent', admin))
      .then({ type: 'AgentUnlocked', data: { reason: 'why' } });
    given(created, locked).when(flip('UnlockAgent', owner)).thenRefused('forbidden');
    given(created).when(flip('LockAgent', operator)).thenRefused('forbidden');
  });

  it('says nothing twice', () => {
    given(created, disabled).when(flip('DisableAgent', owner)).thenNothing();
    given(created).when(enable(owner)).thenNothing();
    given(created, locked).when(flip('LockAgent', admin)).thenNothing();
    given(created).when(flip('UnlockAgent', admin)).thenNothing();
  });

  it('is not switched on by an owner who is deactivated', () =>
    given(created, disabled)
      .when(enable(owner, { standing: 'inactive', deactivations: 1 }))
      .thenRefused('owner_inactive'));
});

describe('deleting an agent', () => {
  const remove = (asker: Asker, history: 'keep' | 'purge' = 'keep'): AgentCommand => ({
    type: 'DeleteAgent',
    asker,
    history,
  });
  it('is for the owner and admins', () => {
    given(created).when(remove(owner)).then(deleted('keep'));
    given(created).when(remove(admin, 'purge')).then(deleted('purge'));
    given(created).when(remove(other)).thenRefused('forbidden');
    given().when(remove(owner)).thenRefused('not_found');
  });
  it('is done once, but a kept history can still be purged', () => {
    given(created, deleted('keep')).when(remove(owner)).thenNothing();
    given(created, deleted('keep')).when(remove(owner, 'purge')).then(deleted('purge'));
    given(created, deleted('purge')).when(remove(owner, 'keep')).thenNothing();
  });
});

describe('reactions', () => {
  const cleared = { type: 'AgentModelCleared' as const, data: { modelId: 'fast' } };
  const unlinked = { type: 'AgentToolUnlinked' as const, data: { tool: 'lookup' } };
  const clear = (row: number): AgentCommand => ({ type: 'ClearModel', modelId: 'fast', row });
  const leave = (deactivation: number): AgentCommand => ({
    type: 'DisableForOwner',
    ownerId: OWNER,
    deactivation,
  });

  it('clear the model of an agent that meant the removed row, once', () => {
    given(created).when(clear(1)).then(cleared);
    given(created, cleared).when(clear(1)).thenNothing();
    given(created, deleted('keep')).when(clear(1)).thenNothing();
    given().when(clear(1)).thenNothing();
  });

  it('leave the model of who chose it again after it had returned, however late they come', () => {
    const again = {
      type: 'AgentRevised' as const,
      data: { version: 2, behaviour, modelRow: 2, toolRows: { lookup: 1 } },
    };
    given(created, cleared, again).when(clear(1)).thenNothing();
    given(created, cleared, again).when(clear(2)).then(cleared);
  });

  it('make no version, and revive nobody when the row returns', () => {
    const next = { ...behaviour, modelId: null, prompt: 'More.' };
    given(created, cleared)
      .when(update({ behaviour: { prompt: 'More.' } }))
      .then({
        type: 'AgentRevised',
        data: { version: 2, behaviour: next, modelRow: null, toolRows: { lookup: 1 } },
      });
    given(created, cleared)
      .when(update({ behaviour: { modelId: 'fast' } }))
      .then({ type: 'AgentRevised', data: { version: 2, behaviour, modelRow: 1, toolRows: { lookup: 1 } } });
  });

  it('unlink a deleted tool, once', () => {
    given(created).when({ type: 'UnlinkTool', tool: 'lookup', row: 1 }).then(unlinked);
    given(created, unlinked).when({ type: 'UnlinkTool', tool: 'lookup', row: 1 }).thenNothing();
    given(created).when({ type: 'UnlinkTool', tool: 'lookup', row: 0 }).thenNothing();
    given(created).when({ type: 'UnlinkTool', tool: 'book', row: 9 }).thenNothing();
  });

  it('switch off the agents of who is deactivated, unless they switched on after a later return', () => {
    given(created)
      .when(leave(1))
      .then({ type: 'AgentDisabled', data: { reason: 'the owner was deactivated' } });
    given(created, disabled).when(leave(1)).thenNothing();
    const returned = { type: 'AgentEnabled' as const, data: { reason: null, ownerDeactivations: 1 } };
    given(created, disabled, returned).when(leave(1)).thenNothing();
    given(created, disabled, returned)
      .when(leave(2))
      .then({ type: 'AgentDisabled', data: { reason: 'the owner was deactivated' } });
  });

  it('do not undo the switch of an owner who returned before the reaction came through', () => {
    const again: AgentCommand = {
      type: 'EnableAgent',
      asker: owner,
      reason: null,
      owner: { standing: 'active', deactivations: 1 },
    };
    const enabled = { type: 'AgentEnabled' as const, data: { reason: null, ownerDeactivations: 1 } };
    given(created).when(again).then(enabled);
    given(created, enabled).when(leave(1)).thenNothing();
  });

  it('delete the agents of who was deleted, not those of the next owner', () => {
    given(created).when({ type: 'DeleteForOwner', ownerId: OWNER }).then(deleted('keep'));
    given(created).when({ type: 'DeleteForOwner', ownerId: OTHER }).thenNothing();
    given(created, deleted('keep')).when({ type: 'DeleteForOwner', ownerId: OWNER }).thenNothing();
  });

  it('read events from before rows had incarnations as the first one', () => {
    const old = {
      type: 'AgentCreated' as const,
      data: { ownerId: OWNER, version: 1, behaviour, details, enabled: true },
    };
    given(old).when(clear(1)).then(cleared);
    given(old)
      .when(leave(1))
      .then({ type: 'AgentDisabled', data: { reason: 'the owner was deactivated' } });
  });
});
