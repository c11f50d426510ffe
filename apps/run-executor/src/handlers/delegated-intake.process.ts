import type { IntakeAnswer, RunRequest } from '@runyard/contracts';
import { CHILD_KEY_PREFIX, DELEGATOR, Problem } from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import { openChildren, stricter } from '../domain/children';
import type { DelegatedCall } from '../domain/children';
import type { NewRunEvent } from '../domain/decision';
import { definitionFor, requireStartable, settingsFor } from '../domain/intake';
import type { AgentFacts } from '../domain/intake';
import { isLive } from '../domain/run';
import type { LiveRun } from '../domain/run';
import { requestDigest } from './request-digest';
import type { Births } from './births.process';
import { childRequest } from './child-request';
import type { Children } from './children.process';
import type { IntakePorts } from './intake.process';
import type { LoadedRun } from './run-log.adapter';

/** The call that a request stands for, in a parent that waits for it. */
interface Granted {
  org: string;
  runId: string;
  request: RunRequest & { parent: NonNullable<RunRequest['parent']> };
  before: LoadedRun;
  parent: LiveRun;
  call: DelegatedCall;
}

/** Refuses what only the executor may ask for, and keys that are its own. */
export function requireDelegator(request: RunRequest): void {
  const delegated = request.trigger === 'delegated' || request.parent !== undefined;
  if (
    delegated
      ? request.requested_by === DELEGATOR && request.parent
      : !request.key.startsWith(CHILD_KEY_PREFIX)
  )
    return;
  throw new Problem(
    'forbidden',
    'Only a run delegates: give an agent a tool whose source is another agent.',
    {},
  );
}

/**
 * Intake of a delegated run. What it may do was decided in its parent's log, which must bear the request out to the letter;
 * nothing is claimed or reserved, since a child competes for nothing and spends out of its parent's grant. A refusal is an
 * end as well: the parent waits for one.
 */
export class DelegatedIntake {
  constructor(
    private readonly ports: IntakePorts & { children: Children },
    private readonly births: Births,
  ) {}

  async take(org: string, runId: string, request: RunRequest): Promise<IntakeAnswer> {
    const { parent } = request;
    if (!parent) throw notGranted();
    const before = await this.ports.runs.glance(org, runId);
    if (before.sequence > 0) return this.again(before, request, parent.run_id);
    const grant = await this.grantOf(org, runId, request);
    if (!grant) throw notGranted();
    if (grant.parent.cancelRequested) {
      await this.ports.children.cancel(org, parent.run_id, runId);
      return this.again(await this.ports.runs.glance(org, runId), request, parent.run_id);
    }
    return this.bear({ org, runId, request: { ...request, parent }, before, ...grant });
  }

  /** Whoever asks again may have seen the parent wait for an end that was not passed on. */
  private async again(loaded: LoadedRun, request: RunRequest, parentRunId: string): Promise<IntakeAnswer> {
    const { org, runId, run } = loaded;
    if (run.situation === 'ended') await this.ports.children.settle(org, parentRunId, runId);
    return this.births.again(loaded, requestDigest(request));
  }

  private async bear(granted: Granted): Promise<IntakeAnswer> {
    const { request, before } = granted;
    let queued: NewRunEvent;
    try {
      queued = await this.queuedFor(granted);
    } catch (error) {
      if (!(error instanceof Problem) || error.code === 'unavailable') throw error;
      return this.refuse(granted, error);
    }
    // A cancel that comes in between finds either no log, and its fence wins or loses against this, or a run to cancel.
    return this.births.append(before, [queued], request, requestDigest(request));
  }

  /** A request that was given up: its id is closed and the parent learns of it, if the request was the executor's at all. */
  async fence(org: string, runId: string, request: RunRequest): Promise<void> {
    const { parent } = request;
    if (!parent || !(await this.grantOf(org, runId, request))) return;
    await this.births.fence(org, runId, parent.run_id);
    await this.ports.children.settle(org, parent.run_id, runId);
  }

  /** The call in a live parent that the request stands for to the letter; undefined: there is none. */
  private async grantOf(
    org: string,
    runId: string,
    request: RunRequest,
  ): Promise<{ parent: LiveRun; call: DelegatedCall } | undefined> {
    if (!request.parent) return undefined;
    const { run: parent } = await this.ports.runs.load(org, request.parent.run_id);
    const call = isLive(parent) ? openChildren(parent).find(({ child }) => child.runId === runId) : undefined;
    if (!isLive(parent) || !call) return undefined;
    const asked = childRequest(request.parent.run_id, call);
    return requestDigest(asked) === requestDigest(request) ? { parent, call } : undefined;
  }

  private async queuedFor({ org, runId, request, parent, call }: Granted): Promise<NewRunEvent> {
    const { registry, definitions, texts, operations } = this.ports;
    const [{ agent: found, owner }, catalogue, used] = await Promise.all([
      registry.agentAndOwner(org, request.agent_id),
      registry.catalogue(org),
      operations.usedKeys(org, [runId]),
    ]);
    if (used.has(runId))
      throw new Problem('not_found', 'The run was carried out before and has been deleted.');
    const agent = requireStartable(found, owner?.active ?? false);
    const definition = definitionFor(agent, catalogue, this.ports.coreTools);
    const settings = carvedSettings(agent, request, parent, call);
    return {
      type: 'RunQueued',
      data: {
        ...identityIn(parent, agent, request),
        tier: definition.models[0]?.tier ?? '',
        input: await texts.store(org, request.input),
        definition: await definitions.put(org, definition),
        settings,
        grantTokens: settings.bounds.tokenBudget,
        previousRunId: null,
        slot: null,
      },
    };
  }

  /** An agent that may not start: the child's id is closed with the reason, and the parent's model reads it. */
  private async refuse({ org, runId, request, before }: Granted, problem: Problem): Promise<IntakeAnswer> {
    const error = { code: problem.code, text: problem.message };
    const failed: NewRunEvent = {
      type: 'RunFailed',
      data: {
        termination: 'Error',
        reason: 'definition_invalid',
        error,
        parentRunId: request.parent.run_id,
      },
    };
    try {
      await this.ports.runs.append(before, [failed], DELEGATOR);
    } catch (conflict) {
      if (!(conflict instanceof VersionConflict)) throw conflict;
    }
    return this.again(await this.ports.runs.glance(org, runId), request, request.parent.run_id);
  }
}

const notGranted = (): Problem =>
  new Problem('forbidden', "The request names a call that its parent's log does not bear out.", {});

/** On whose behalf and at whose wish it runs is the root's to say (domain, section 5); whose agent it is, the agent's. */
const identityIn = ({ identity }: LiveRun, agent: AgentFacts, request: Granted['request']) => ({
  agentId: agent.agentId,
  agentVersion: agent.version,
  ownerId: agent.ownerId,
  userId: identity.userId,
  requestedBy: identity.requestedBy,
  trigger: 'delegated' as const,
  parentRunId: request.parent.run_id,
  rootRunId: identity.rootRunId,
  depth: identity.depth + 1,
  conversationId: null,
  requestDigest: requestDigest(request),
});

/** The agent's own bounds, each no looser than what its parent has given it. */
function carvedSettings(agent: AgentFacts, request: RunRequest, parent: LiveRun, { child }: DelegatedCall) {
  const { bounds, ...settings } = settingsFor(agent, request);
  const least = (key: keyof typeof bounds) => Math.min(bounds[key], child.bounds[key]);
  return {
    ...settings,
    mode: stricter(settings.mode, child.mode),
    bounds: {
      maxSteps: least('maxSteps'),
      maxToolCalls: least('maxToolCalls'),
      tokenBudget: Math.min(bounds.tokenBudget, child.grantTokens),
      deadlineSeconds: least('deadlineSeconds'),
      // The agent's own counts from where it stands; the run's is the deepest depth of the tree.
      maxDepth: Math.min(child.bounds.maxDepth, parent.identity.depth + 1 + bounds.maxDepth),
    },
  };
}
