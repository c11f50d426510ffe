import type {
  AgentBehaviour,
  AgentDetails,
  AllowedModel,
  CatalogueTool,
  Context,
  NewEvent,
} from '@runyard/contracts';
import { MODELS_ID, TOOLS_ID, userAggregate } from '@runyard/contracts';
import { OWNER } from './people';
import { MODEL, TOOLS } from './script';

/** Spec-only: what the logs of people, the catalogue and agents hold before a world's first run: an owner and its agent. */

/** How the agent, its model and its tools differ from the usual ones. */
export interface Seed {
  details?: Partial<AgentDetails>;
  behaviour?: Partial<AgentBehaviour>;
  /** Changes the one allowed model. */
  model?: Partial<AllowedModel>;
  /** Beside the scripted ones. */
  tools?: CatalogueTool[];
}

interface Seeded {
  append(context: Context, id: string, events: NewEvent[]): Promise<void>;
}

/** Writes it as the registry would. */
export async function seed(
  log: Seeded,
  { details, behaviour, model, tools: more = [] }: Seed,
): Promise<void> {
  const all = [...TOOLS, ...more];
  const person = {
    userId: OWNER,
    email: 'o@example.org',
    name: 'Owner',
    timeZone: null,
    roles: ['member'],
  };
  await log.append('people', userAggregate(OWNER), [{ type: 'UserAdded', data: person }]);
  await log.append('catalogue', MODELS_ID, [
    { type: 'ModelAllowed', data: { model: { ...MODEL, ...model } } },
  ]);
  await log.append(
    'catalogue',
    TOOLS_ID,
    all.map((tool) => ({ type: 'ToolRegistered', data: { tool } })),
  );
  const tools = all.map((tool) => tool.name);
  const data = {
    ownerId: OWNER,
    version: 1,
    enabled: true,
    behaviour: {
      prompt: 'Be brief.',
      modelId: 'm1',
      tools,
      bounds: {},
      approvalPolicy: 'end',
      mode: 'auto',
      ...behaviour,
    },
    details: {
      name: 'Agent',
      description: '',
      concurrency: 'unlimited',
      overlap: 'skip',
      schedule: null,
      meta: {},
      ...details,
    },
  };
  await log.append('agents', 'agent', [{ type: 'AgentCreated', data }]);
}
