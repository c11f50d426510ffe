import type { Actor, IntakeAnswer, RunRequest } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { digestOf, formatPosition, runIdOf, VersionConflict } from '@runyard/event-log';
import type { NewRunEvent } from '../domain/decision';
import { claim } from '../domain/claim';
import { fold } from '../domain/evolve';
import { definitionFor, requireStartable, settingsFor, slotsFor } from '../domain/intake';
import type { AgentFacts } from '../domain/intake';
import { dated, decideAll, foldNew } from '../domain/next';
import { isLive, NO_RUN, stateOf } from '../domain/run';
import type { OperationsQueries } from '../projections/operations.queries';
import type { Conversations } from './conversations.adapter';
import type { Definitions } from './definitions.adapter';
import type { Drivers } from './drivers.process';
import { circumstancesOf } from './judgement.adapter';
import type { RegistryFacts } from './registry.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';
import { Slots } from './slots.process';
import type { Texts } from './texts.adapter';

export interface IntakePorts {
  runs: RunLog;
  registry: RegistryFacts;
  conversations: Conversations;
  definitions: Definitions;
  texts: Texts;
  operations: OperationsQueries;
  drivers: Drivers;
  enqueue: (org: string, runId: string) => Promise<void>;
  instance: string;
  clock: () => number;
  pauseTtlMs: number;
}

/**
 * Turns a request into a run, exactly once a key (P2). Every step is idempotent by run id, in this order: read the run's
 * log, resolve the agent, claim the slot, append. With a free place the run is claimed in the very commit that queues it
 * (docs/adr/0008), otherwise it goes to the work queue.
 */
export class Intake {
  private readonly slots: Slots;

  constructor(private readonly ports: IntakePorts) {
    this.slots = new Slots(ports.operations, ports.runs);
  }

  /** Throws a Problem for a refusal, RetryLater where the outcome of somebody else must be awaited. */
  async take(org: string, request: RunRequest): Promise<IntakeAnswer> {
    const runId = runIdOf(org, request.key);
    const digest = requestDigest(request);
    // Reads change nothing, so they go side by side; the run's own log has the first word.
    const [before, found, catalogue] = await Promise.all([
      this.ports.runs.glance(org, runId),
      this.ports.registry.agent(org, request.agent_id),
      this.ports.registry.catalogue(org),
    ]);
    if (before.sequence > 0) return this.again(before, digest);
    const agent = await this.startable(org, found, request);
    if (request.conversation_id) await this.ports.conversations.requireOpen(org, request.conversation_id);
    const definition = definitionFor(agent, catalogue);
    const slots = slotsFor(org, agent, request);
    const [claimed, digestOfDefinition] = await Promise.all([
      this.slots.claim(org, runId, digest, slots),
      this.ports.definitions.put(org, definition),
    ]);
    if (claimed.outcome === 'known') return this.known(org, runId, claimed.digest, digest);
    const identity = identityOf(agent, request, runId, digest, definition.models[0]?.tier ?? '');
    if (claimed.outcome === 'held') {
      refuseWherePersonWaits(claimed.slotKey, request);
      const skipped: NewRunEvent = { type: 'RunSkipped', data: { ...identity, reason: 'already_running', holder: claimed.holder } };
      return this.append(before, [skipped], request, digest);
    }
    const settings = settingsFor(agent, request);
    const queued: NewRunEvent = {
      type: 'RunQueued',
      data: {
        ...identity,
        input: await this.ports.texts.store(org, request.input),
        definition: digestOfDefinition,
        settings,
        grantTokens: settings.bounds.tokenBudget,
        previousRunId: claimed.previousRunId,
        slot: slots.agent,
      },
    };
    return this.append(before, [queued], request, digest);
  }

  /** A request that will never become a run: its id is closed for ever and what it held is freed (P2.6). */
  async fence(org: string, runId: string): Promise<void> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (loaded.sequence > 0) return;
    const error = { code: 'request_lost', text: 'The request was never turned into a run.' };
    const stale: NewRunEvent = { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error } };
    try {
      await this.ports.runs.append(loaded, [stale], 'system:run-executor');
    } catch (error_) {
      // It became a run after all.
      if (error_ instanceof VersionConflict) return;
      throw error_;
    }
    await this.ports.operations.giveBack(org, runId);
  }

  private async startable(org: string, agent: AgentFacts | null, request: RunRequest): Promise<AgentFacts> {
    const owner = agent && !agent.deleted ? await this.ports.registry.user(org, agent.ownerId) : null;
    const startable = requireStartable(agent, owner?.active ?? false);
    const [kind, id] = request.requested_by.split(':', 2);
    if (kind !== 'user' || id === undefined || id === startable.ownerId) return startable;
    const caller = await this.ports.registry.user(org, id);
    if (caller?.active && caller.roles.includes('admin')) return startable;
    throw new Problem('forbidden', 'Only the owner of an agent, an admin or a service may start it.', {});
  }

  private async append(
    before: LoadedRun,
    born: NewRunEvent[],
    request: RunRequest,
    digest: string,
  ): Promise<IntakeAnswer> {
    const { org, runId } = before;
    const material = await this.ports.runs.materialFor(org, runId, born.map((event) => dated(event, 0)));
    const loaded: LoadedRun = { ...before, run: NO_RUN, material };
    const claims = born[0]?.type === 'RunQueued' && this.ports.drivers.register(runId, 1);
    try {
      return await (claims ? this.startHere(loaded, born, request) : this.queue(loaded, born, request));
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      return this.lost(org, runId, digest);
    } finally {
      if (claims) this.ports.drivers.dropUndriven(runId);
    }
  }

  /** One commit: queued, claimed, and what follows from that. */
  private async startHere(loaded: LoadedRun, born: NewRunEvent[], request: RunRequest): Promise<IntakeAnswer> {
    const now = this.ports.clock();
    const queued = foldNew(NO_RUN, born, now, loaded.material);
    const digest = isLive(queued) ? queued.definition : '';
    const definition = await this.ports.definitions.get(loaded.org, digest);
    if (!isLive(queued) || !definition) return this.queue(loaded, born, request);
    const claims = claim(queued, this.ports.instance, 'woken');
    const at = { ...circumstancesOf(loaded.runId, definition, this.ports.pauseTtlMs), now };
    const events = [...born, ...claims, ...decideAll(foldNew(queued, claims, now, loaded.material), at)];
    const answer = await this.store(loaded, events, request);
    this.ports.drivers.drive(loaded, definition, 1);
    return answer;
  }

  private async queue(loaded: LoadedRun, born: NewRunEvent[], request: RunRequest): Promise<IntakeAnswer> {
    const answer = await this.store(loaded, born, request);
    if (isLive(loaded.run)) await this.ports.enqueue(loaded.org, loaded.runId);
    return answer;
  }

  private async store(loaded: LoadedRun, events: NewRunEvent[], request: RunRequest): Promise<IntakeAnswer> {
    // The schema has checked the actor's form.
    const appended = await this.ports.runs.append(loaded, events, request.requested_by as Actor);
    loaded.run = fold(NO_RUN, events.map((event) => dated(event, appended.time)), loaded.material);
    loaded.sequence = appended.sequence;
    return answerOf(loaded, true);
  }

  /** Somebody was faster with the same run id: give back only what the logged outcome does not need (P2.5). */
  private async lost(org: string, runId: string, digest: string): Promise<IntakeAnswer> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (!isLive(loaded.run)) await this.giveBack(loaded);
    return this.again(loaded, digest);
  }

  /** A run that was never queued needs nothing; one that was and has ended keeps its turn of the conversation. */
  private giveBack({ org, runId, run }: LoadedRun): Promise<void> {
    const { operations } = this.ports;
    const queued = run.situation === 'ended' && run.definition !== null;
    return queued ? operations.releaseSlots(org, runId) : operations.giveBack(org, runId);
  }

  /** The id was used before: by a rival that was faster just now, or by a run whose log is gone. */
  private async known(org: string, runId: string, known: string | null, digest: string): Promise<IntakeAnswer> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (loaded.sequence > 0) return this.again(loaded, digest);
    if (known !== digest) throw keyReused(runId);
    throw new Problem('not_found', 'This request was carried out before; its run has been deleted.', { run_id: runId });
  }

  /** The same key again: the same run for ever, or a refusal (P2.8). */
  private async again(loaded: LoadedRun, digest: string): Promise<IntakeAnswer> {
    const { run, org, runId } = loaded;
    const identity = run.situation === 'none' ? null : run.identity;
    if (identity && identity.requestDigest !== digest) throw keyReused(runId);
    const driverless = isLive(run) && (run.situation === 'queued' || run.woken);
    if (driverless && !this.ports.drivers.has(runId)) await this.ports.enqueue(org, runId);
    return answerOf(loaded, false);
  }
}

const keyReused = (runId: string): Problem =>
  new Problem('idempotency_key_reused', 'This key was used for another request; use a new key.', { run_id: runId });

/** What makes two requests the same; who asks and the key itself do not belong to it. */
function requestDigest({ key: _key, requested_by: _by, ...body }: RunRequest): string {
  return digestOf(JSON.parse(JSON.stringify(body)));
}

/** A person who writes into a busy conversation is told so; everybody else leaves a skipped run (P7.3). */
function refuseWherePersonWaits(slotKey: string, request: RunRequest): void {
  if (slotKey.startsWith('conversation:') && request.requested_by.startsWith('user:'))
    throw new Problem('conversation_busy', 'The conversation has a run under way; wait for it or cancel it.', {});
}

const answerOf = ({ run, runId, sequence }: LoadedRun, created: boolean): IntakeAnswer => ({
  ok: true,
  run_id: runId,
  state: stateOf(run),
  reason: run.situation === 'ended' ? run.reason : null,
  position: formatPosition({ sequence, index: 0 }),
  created,
});

function identityOf(agent: AgentFacts, request: RunRequest, runId: string, digest: string, tier: string) {
  return {
    agentId: agent.agentId,
    agentVersion: agent.version,
    ownerId: agent.ownerId,
    userId: agent.ownerId,
    requestedBy: request.requested_by,
    trigger: request.trigger,
    parentRunId: null,
    rootRunId: runId,
    depth: 0,
    conversationId: request.conversation_id ?? null,
    tier,
    requestDigest: digest,
  };
}
