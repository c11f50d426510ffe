import { randomUUID } from 'node:crypto';
import { Problem, ROLES } from '@runyard/contracts';
import type { Caller, Role } from '@runyard/contracts';
import type { Actor } from '../../e2e/fake-services';
import { startHarness } from '../../e2e/harness';
import type { Harness } from '../../e2e/harness';
import { pathParameters } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { routeTable } from './controllers';

jest.setTimeout(120_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const OTHER_ORG = '99999999-9999-4999-8999-999999999999';
const USER = '33333333-3333-4333-8333-333333333333';

/** What a route does with somebody else's things. `own`: a thing in the path belongs to a person; `org`: it is the org's; `none`: nothing in the path. */
interface Entry {
  body?: unknown;
  query?: string;
  about: 'own' | 'org' | 'none';
  method?: string;
}
const ids = {
  agent_id: 'owners-agent',
  run_id: 'run_owner',
  conversation_id: 'conv_owner',
  model_id: 'model-1',
  name: 'tool-1',
  user_id: USER,
  owner_id: USER,
  key_id: 'key_0123456789abcdefghij',
  version: '1',
  approval_id: `apr_${'0'.repeat(26)}`,
  rule_id: `rul_${'0'.repeat(26)}`,
  document_id: 'doc-1',
  group_id: 'group-1',
  code: 'forbidden',
  bulk_action_id: `blk_${'0'.repeat(26)}`,
  task_id: 'task_0123456789abcdefghij',
};

/** One entry a route; a route without one fails below. */
const ENTRIES: Record<string, Entry> = {
  'runs.start': {
    about: 'own',
    body: { agent_id: ids.agent_id, input: 'x', conversation_id: ids.conversation_id },
  },
  'runs.events': { about: 'own' },
  'runs.list': { about: 'none' },
  'runs.get': { about: 'own' },
  'runs.steps': { about: 'own' },
  'runs.inspect': { about: 'own' },
  'runs.trajectory': { about: 'own' },
  'runs.cancel': { about: 'own' },
  'runs.cancellation': { about: 'own' },
  'runs.pause': { about: 'own' },
  'runs.resume': { about: 'own' },
  'runs.extend': { about: 'own', body: { steps: 1 } },
  'runs.mode': { about: 'own', body: { mode: 'auto' } },
  'runs.fork': { about: 'own', body: { step: 1 } },
  'runs.retry': { about: 'own', body: {} },
  'runs.continue': { about: 'own', body: { approval_id: ids.approval_id, verdict: 'approve' } },
  'runs.delete': { about: 'own' },
  'bulk.start': { about: 'none', body: { action: 'cancel', filter: {}, preview: true } },
  'bulk.list': { about: 'none' },
  'bulk.get': { about: 'own' },
  'bulk.results': { about: 'own' },
  'bulk.abort': { about: 'own' },
  'conversations.create': { about: 'none', body: { title: 'x' } },
  'conversations.list': { about: 'none' },
  'conversations.get': { about: 'own' },
  'conversations.delete': { about: 'own' },
  'agents.create': { about: 'none', body: { agent_id: 'new-agent', name: 'N', prompt: 'P' } },
  'agents.list': { about: 'none' },
  'agents.get': { about: 'own' },
  'agents.update': { about: 'own', body: { name: 'N' } },
  'agents.delete': { about: 'own' },
  'agents.versions': { about: 'own' },
  'agents.version': { about: 'own' },
  'agents.diff': { about: 'own' },
  'agents.restore': { about: 'own' },
  'agents.enable': { about: 'own' },
  'agents.disable': { about: 'own' },
  'agents.lock': { about: 'own' },
  'agents.unlock': { about: 'own' },
  'schedules.preview': { about: 'none', body: { schedule: { type: 'interval', every_hours: 1 } } },
  'schedules.upcoming': { about: 'own' },
  'approvals.list': { about: 'none' },
  'approvals.get': { about: 'own' },
  'approvals.decide': { about: 'own', body: { verdict: 'approve' } },
  'permissions.list': { about: 'none' },
  'permissions.add': { about: 'none', body: { scope: { kind: 'org' }, tool: 'x', decision: 'deny' } },
  'permissions.evaluate': { about: 'own', body: { agent_id: ids.agent_id, tool: 'x' } },
  'permissions.get': { about: 'org' },
  'permissions.remove': { about: 'org' },
  'tasks.create': { about: 'none', body: { title: 'T', agent_id: ids.agent_id } },
  'tasks.list': { about: 'none' },
  'tasks.events': { about: 'none' },
  'tasks.activity': { about: 'none' },
  'tasks.claim': { about: 'none', body: {} },
  'tasks.get': { about: 'own' },
  'tasks.update': { about: 'own', body: { fence: 1, title: 'T' } },
  'tasks.delete': { about: 'own', query: 'fence=1' },
  'tasks.steps': { about: 'own' },
  'tasks.set_steps': { about: 'own', body: { fence: 1, steps: [] } },
  'tasks.move': { about: 'own', body: { column: 'todo' } },
  'tasks.start': { about: 'own' },
  'tasks.stop': { about: 'own' },
  'tasks.complete': { about: 'own', body: { fence: 1, report: 'R' } },
  'tasks.runs': { about: 'own' },
  'tasks.lock': { about: 'own' },
  'tasks.renew_lock': { about: 'own', body: { fence: 1 } },
  'tasks.release_lock': { about: 'own', query: 'fence=1' },
  'tasks.get_lock': { about: 'own' },
  'activity.list': { about: 'none' },
  'budgets.list': { about: 'none' },
  'budgets.get': { about: 'own' },
  'budgets.list_caps': { about: 'none' },
  'budgets.get_default_cap': { about: 'none' },
  'budgets.set_default_cap': { about: 'none', body: { tokens: 1_000 } },
  'budgets.get_cap': { about: 'own' },
  'budgets.set_cap': { about: 'org', body: { tokens: null } },
  'budgets.clear_cap': { about: 'org' },
  'spend.report': { about: 'none' },
  'spend.forecast': { about: 'none' },
  'models.list': { about: 'none' },
  'models.allow': {
    about: 'none',
    body: {
      model_id: 'm',
      label: 'M',
      tier: 'fast',
      provider: { kind: 'recorded', recording: 'r' },
      model: 'm',
      context_window: 1000,
    },
  },
  'models.update': { about: 'org', body: { label: 'M' } },
  'models.remove': { about: 'org' },
  'models.set_default': { about: 'org' },
  'tools.list': { about: 'none' },
  'tools.register': {
    about: 'none',
    body: {
      name: 't',
      description: 'T',
      input_schema: { type: 'object' },
      effect: 'read',
      source: { kind: 'builtin', name: 't' },
    },
  },
  'tools.update': { about: 'org', body: { description: 'T' } },
  'tools.remove': { about: 'org' },
  'platform_prompt.get': { about: 'none' },
  'platform_prompt.set': { about: 'none', body: { prompt: 'x' } },
  me: { about: 'none' },
  'orgs.get': { about: 'none' },
  'orgs.update': { about: 'none', body: { name: 'x' } },
  'users.list': { about: 'none' },
  'users.add': { about: 'none', body: { email: 'a@example.org', name: 'A' } },
  'users.get': { about: 'org' },
  'users.update': { about: 'org', body: { name: 'A' } },
  'users.deactivate': { about: 'org' },
  'users.reactivate': { about: 'org' },
  'users.delete': { about: 'org' },
  'keys.list': { about: 'none' },
  'keys.create': { about: 'none', body: { label: 'x', roles: ['member'] } },
  'keys.revoke': { about: 'own' },
  'documents.upload': { about: 'none', body: { title: 'T', content: 'x' } },
  'documents.list': { about: 'none' },
  'documents.get': { about: 'own' },
  'documents.update': { about: 'own', body: { title: 'T' } },
  'documents.share': { about: 'own', body: { everyone: true } },
  'documents.delete': { about: 'own' },
  'knowledge.search': { about: 'none' },
  'knowledge.mcp': { about: 'none', body: { jsonrpc: '2.0', id: 1, method: 'ping' } },
  'groups.create': { about: 'none', body: { group_id: 'g', name: 'G' } },
  'groups.list': { about: 'none' },
  'groups.get': { about: 'own' },
  'groups.update': { about: 'org', body: { name: 'G' } },
  'groups.delete': { about: 'org' },
  'groups.add_member': { about: 'org' },
  'groups.remove_member': { about: 'org' },
  openapi: { about: 'none' },
  'problems.get': { about: 'none' },
};

const { routes } = routeTable();
let harness: Harness;
/** Everything belongs to the owner in ORG. */
let owner: Actor;
/** Methods that the fake services carried out, as opposed to refused. */
const done: { method: string; caller: Caller }[] = [];

beforeAll(async () => {
  harness = await startHarness({
    rate: { quota: 1_000_000, windowSeconds: 60 },
    // Every route is asked without a credential once.
    failures: { quota: 1_000_000, windowSeconds: 60 },
  });
  owner = harness.services.actor(ORG, [...ROLES]);
  const methods = [
    'conversations',
    'agents',
    'schedules',
    'approvals',
    'activity',
    'permissions',
    'tasks',
    'models',
    'tools',
    'platform_prompt',
    'orgs',
    'users',
    'keys',
    'runs',
    'bulk',
    'budgets',
    'spend',
    'documents',
    'knowledge',
    'groups',
  ];
  const rpc = routes
    .map((route) => (route.name === 'runs.mode' ? 'runs.set_mode' : route.name))
    .filter((name) => methods.includes(name.split('.')[0] ?? ''));
  for (const method of rpc) {
    const entry = ENTRIES[method === 'runs.set_mode' ? 'runs.mode' : method];
    harness.services.on(method, (caller) => {
      if (entry?.about !== 'none') {
        if (caller.org !== ORG) throw new Problem('not_found', 'There is no such thing');
        if (entry?.about === 'own' && caller.userId !== owner.userId)
          throw new Problem('forbidden', 'It belongs to somebody else');
      }
      done.push({ method, caller });
      return { data: [], next_cursor: null, run_id: ids.run_id, position: '1.0', ended_at: null };
    });
  }
});
afterAll(() => harness?.stop());
beforeEach(() => done.splice(0));

function addressOf(route: RouteDeclaration): string {
  const query = route.name === 'knowledge.search' ? '?query=x' : '';
  const path = pathParameters(route.path).reduce(
    (path, name) => path.replace(`:${name}`, ids[name as keyof typeof ids]),
    route.path,
  );
  return path + query;
}

async function request(route: RouteDeclaration, actor: Actor | undefined): Promise<number> {
  const { body, query } = ENTRIES[route.name] ?? {};
  const answer = await fetch(harness.url + addressOf(route) + (query ? `?${query}` : ''), {
    method: route.method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(actor ? { 'x-api-key': actor.key } : {}),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  await answer.arrayBuffer();
  return answer.status;
}

const logSize = async (): Promise<number> => {
  const [runs, people, agents] = await Promise.all(
    (['RUNS', 'PEOPLE', 'AGENTS'] as const).map((stream) => harness.bus.log.state(stream)),
  );
  return (runs?.lastSequence ?? 0) + (people?.lastSequence ?? 0) + (agents?.lastSequence ?? 0);
};

describe('C63 each route × {owner, same org, other org, anonymous} (mastra-ai/mastra#22575)', () => {
  test('every route has an entry, and every entry a route', () => {
    expect(routes.map((route) => route.name).sort()).toEqual(Object.keys(ENTRIES).sort());
  });

  const guarded = routes.filter((route) => route.access !== 'public');
  const rolesOf = (route: RouteDeclaration): Role[] => (route.access === 'public' ? [] : [...route.access]);

  test.each(guarded.map((route) => [route.name, route] as const))(
    '%s: nobody gets in without a credential',
    async (_name, route) => {
      expect(await request(route, undefined)).toBe(401);
      expect(done).toEqual([]);
    },
  );

  test.each(guarded.map((route) => [route.name, route] as const))(
    '%s: the owner gets an answer',
    async (_name, route) => {
      expect(await request(route, owner)).toBeLessThan(300);
    },
  );

  test.each(guarded.map((route) => [route.name, route] as const))(
    '%s: a member of the org without the right gets 403',
    async (_name, route) => {
      const before = await logSize();
      const { about } = ENTRIES[route.name] ?? {};
      const roleless = harness.services.actor(ORG, []);
      expect(await request(route, roleless)).toBe(403);
      expect(done).toEqual([]);
      if (about === 'own') {
        expect(await request(route, harness.services.actor(ORG, rolesOf(route)))).toBe(403);
        expect(done).toEqual([]);
      }
      expect(await logSize()).toBe(before);
    },
  );

  test.each(
    guarded
      .filter((route) => ENTRIES[route.name]?.about !== 'none')
      .map((route) => [route.name, route] as const),
  )('%s: another org gets 404, whatever its roles', async (_name, route) => {
    if (route.name === 'runs.start') return expectForeignStart(route);
    const before = await logSize();
    expect(await request(route, harness.services.actor(OTHER_ORG, [...ROLES]))).toBe(404);
    expect(done).toEqual([]);
    expect(await logSize()).toBe(before);
  });

  /** A start names an agent in its body: the request goes out under the caller's own org, where there is no such agent. */
  async function expectForeignStart(route: RouteDeclaration): Promise<void> {
    const subjects: string[] = [];
    const spy = harness.connection.subscribe('runyard.requests.*', {
      callback: (_error, message) => void subjects.push(message.subject),
    });
    await harness.connection.flush();
    await request(route, harness.services.actor(OTHER_ORG, [...ROLES]));
    await harness.connection.flush();
    spy.unsubscribe();
    expect(subjects).toEqual([`runyard.requests.${OTHER_ORG}`]);
  }

  test.each(
    guarded
      .filter((route) => ENTRIES[route.name]?.about === 'none')
      .map((route) => [route.name, route] as const),
  )("%s: acts in the credential's org and no other", async (_name, route) => {
    const stranger = harness.services.actor(OTHER_ORG, [...ROLES]);
    await request(route, stranger);
    for (const { caller } of done) expect(caller.org).toBe(OTHER_ORG);
  });

  test('an org in header, query or body changes nothing', async () => {
    const answer = await fetch(`${harness.url}/v1/me`, {
      headers: { 'x-api-key': owner.key, 'x-org-id': OTHER_ORG, 'x-tenant': OTHER_ORG },
    });
    expect(((await answer.json()) as { org_id: string }).org_id).toBe(ORG);
    const withQuery = await fetch(`${harness.url}/v1/me?org_id=${OTHER_ORG}`, {
      headers: { 'x-api-key': owner.key },
    });
    expect(withQuery.status).toBe(400);
    const withBody = await fetch(`${harness.url}/v1/users`, {
      method: 'POST',
      headers: { 'x-api-key': owner.key, 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'a@example.org', name: 'A', org_id: OTHER_ORG, user_id: randomUUID() }),
    });
    expect(withBody.status).toBe(400);
  });
});
