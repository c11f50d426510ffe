import type { IntakeAnswer, RunRequest, SkipReason, ToolDefinition } from '@runyard/contracts';
import { CHILD_KEY_PREFIX, Problem } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import { requireStartable, slotsFor } from '../domain/intake';
import type { AgentFacts } from '../domain/intake';
import { Admissions } from './admission.process';
import { Births } from './births.process';
import type { BirthPorts } from './births.process';
import type { Budgets } from './budgets.adapter';
import type { Conversations } from './conversations.adapter';
import type { Children } from './children.process';
import { DelegatedIntake, requireDelegator } from './delegated-intake.process';
import { Origins } from './origins.process';
import type { Beginnings } from './origins.process';
import { identityOf } from './run-identity';
import type { RegistryFacts, UserFacts } from './registry.adapter';
import { requestDigest } from './request-digest';
import type { LoadedRun } from './run-log.adapter';
import { Slots } from './slots.process';
import type { Texts } from './texts.adapter';

export interface IntakePorts extends BirthPorts {
  budgets: Budgets;
  registry: RegistryFacts;
  conversations: Conversations;
  children: Children;
  texts: Texts;
  /** Tools that every agent has in this deployment. */
  coreTools: readonly ToolDefinition[];
}

/** A request whose agent may start, and what the run would be. */
interface Wanted extends Beginnings {
  org: string;
  runId: string;
  digest: string;
  request: RunRequest;
  /** The run's log before: empty. */
  before: LoadedRun;
  agent: AgentFacts;
}

/**
 * Turns a request into a run, exactly once a key (P2). Every step is idempotent by run id, in this order: read the run's
 * log, resolve the agent, claim the slot, reserve the budget, append.
 */
export class Intake {
  private readonly slots: Slots;
  private readonly births: Births;
  private readonly admissions: Admissions;
  private readonly origins: Origins;
  private readonly delegated: DelegatedIntake;

  constructor(private readonly ports: IntakePorts) {
    this.slots = new Slots(ports.operations, ports.runs);
    this.births = new Births(ports);
    this.admissions = new Admissions(ports.runs, ports.budgets);
    this.origins = new Origins(ports);
    this.delegated = new DelegatedIntake(ports, this.births);
  }

  /** Throws a Problem for a refusal, RetryLater where the outcome of somebody else must be awaited. */
  async take(org: string, request: RunRequest): Promise<IntakeAnswer> {
    requireDelegator(request);
    const runId = runIdOf(org, request.key);
    const digest = requestDigest(request);
    if (request.parent) return this.delegated.take(org, runId, request);
    // Reads change nothing, so they go side by side; the run's own log has the first word.
    const [before, found, catalogue] = await Promise.all([
      this.ports.runs.glance(org, runId),
      this.ports.registry.agentAndOwner(org, request.agent_id),
      this.ports.registry.catalogue(org),
    ]);
    if (before.sequence > 0) return this.births.again(before, digest);
    const agent = await this.startable(org, found.agent, found.owner, request);
    const beginnings = await this.origins.begin({ org, runId, request, agent, catalogue });
    return this.bear({ org, runId, digest, request, before, agent, ...beginnings });
  }

  /** Claims what the run competes for and appends its first event: queued, or skipped where somebody else holds it. */
  private async bear(wanted: Wanted): Promise<IntakeAnswer> {
    const { org, runId, digest, request, before, agent, definition } = wanted;
    const slots = slotsFor(org, agent, request);
    const [claimed, digestOfDefinition] = await Promise.all([
      this.slots.claim(org, runId, digest, slots),
      this.ports.definitions.put(org, definition),
    ]);
    if (claimed.outcome === 'known') return this.births.known(org, runId, claimed.digest, digest);
    if (claimed.outcome === 'held') {
      if (isForPerson(claimed.slotKey, request)) {
        await this.ports.operations.giveBack(org, runId);
        throw busy();
      }
      return this.skip(wanted, 'already_running', claimed.holder);
    }
    await this.requireDialog(org, runId, claimed.previousRunId, request);
    const { settings, origin, takenOver } = wanted;
    const wished = {
      type: 'RunQueued' as const,
      data: {
        ...identityOf(wanted),
        input: await this.ports.texts.store(org, request.input),
        definition: digestOfDefinition,
        settings,
        grantTokens: settings.bounds.tokenBudget,
        previousRunId: claimed.previousRunId,
        slot: slots.agent,
        ...(origin && { origin }),
        ...(takenOver && { takenOver }),
      },
    };
    const admission = await this.admissions.admit(before, wished, definition);
    if (admission.outcome === 'closed') return this.births.known(org, runId, digest, digest);
    if (admission.outcome === 'refused') return this.skip(wanted, 'budget_exceeded', null);
    const answer = await this.births.append(before, [admission.queued], request, digest, admission.material);
    if (answer.ok && answer.state === 'skipped') await this.admissions.giveBack(before, wished);
    return answer;
  }

  /** Leaves a row that says why nothing came of the request; what it had claimed is free for the next one. */
  private async skip(wanted: Wanted, reason: SkipReason, holder: string | null): Promise<IntakeAnswer> {
    const { org, runId, digest, request, before } = wanted;
    // The conversation may have been taken over already, and a turn that never was must not be its last one.
    await this.ports.operations.giveBack(org, runId);
    const data = { ...identityOf(wanted), reason, holder };
    return this.births.append(before, [{ type: 'RunSkipped', data }], request, digest);
  }

  /** A request that will never become a run (P2.6). */
  readonly fence = (org: string, runId: string): Promise<void> => this.births.fence(org, runId);

  /** The same of a request that is at hand; one that pretends to be the executor's closes nothing. */
  async giveUp(org: string, request: RunRequest): Promise<void> {
    const runId = runIdOf(org, request.key);
    if (request.parent) await this.delegated.fence(org, runId, request);
    else if (!request.key.startsWith(CHILD_KEY_PREFIX)) await this.births.fence(org, runId);
  }

  private async startable(
    org: string,
    agent: AgentFacts | null,
    owner: UserFacts | null,
    request: RunRequest,
  ): Promise<AgentFacts> {
    const startable = requireStartable(agent, owner?.active ?? false);
    const [kind, id] = request.requested_by.split(':', 2);
    if (kind !== 'user' || id === undefined || id === startable.ownerId) return startable;
    if (await this.isAdmin(org, id)) return startable;
    if (await this.continuesByDecision(org, id, request)) return startable;
    throw new Problem('forbidden', 'Only the owner of an agent, an admin or a service may start it.', {});
  }

  /** Gives the claim back where the conversation was deleted or is not the caller's; asked after the claim, which a deletion respects. */
  private async requireDialog(
    org: string,
    runId: string,
    previousRunId: string | null,
    request: RunRequest,
  ): Promise<void> {
    if (!request.conversation_id) return;
    try {
      await this.ports.conversations.requireOpen(org, request.conversation_id);
      await this.requirePart(org, previousRunId, request.requested_by);
    } catch (error) {
      await this.ports.operations.giveBack(org, runId);
      throw error;
    }
  }

  /** A dialog holds what its people said: only they, an admin or a service may go on with it. */
  private async requirePart(org: string, previousRunId: string | null, requestedBy: string): Promise<void> {
    const [kind, id] = requestedBy.split(':', 2);
    if (previousRunId === null || kind !== 'user' || id === undefined) return;
    const { run } = await this.ports.runs.glance(org, previousRunId);
    const identity = run.situation === 'none' ? null : run.identity;
    if (identity === null || identity.requestedBy === requestedBy || identity.userId === id) return;
    if (await this.isAdmin(org, id)) return;
    throw new Problem('forbidden', 'The conversation belongs to somebody else; start one of your own.', {});
  }

  /** Who may decide may let a run go on with the decision, whoever owns its agent. */
  private async continuesByDecision(org: string, userId: string, { origin }: RunRequest): Promise<boolean> {
    if (origin?.kind !== 'continuation' || !origin.decision) return false;
    const user = await this.ports.registry.user(org, userId);
    return user?.active === true && user.roles.includes('reviewer');
  }

  private async isAdmin(org: string, userId: string): Promise<boolean> {
    const user = await this.ports.registry.user(org, userId);
    return user?.active === true && user.roles.includes('admin');
  }
}

/** A person who writes into a busy conversation is told so; everybody else leaves a skipped run (P7.3). */
const isForPerson = (slotKey: string, request: RunRequest): boolean =>
  slotKey.startsWith('conversation:') && request.requested_by.startsWith('user:');

const busy = (): Problem =>
  new Problem('conversation_busy', 'The conversation has a run under way; wait for it or cancel it.', {});
