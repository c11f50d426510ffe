import type {
  DefinitionSnapshot,
  OriginRequest,
  RunOrigin,
  RunRequest,
  RunSettings,
  TakenOver,
  ToolDefinition,
} from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { boundsLeft, continuedDialog, openCalls, requireContinuable } from '../domain/continuation';
import { changedDefinition } from '../domain/changed-definition';
import { definitionFor, settingsFor } from '../domain/intake';
import type { AgentFacts, CatalogueFacts } from '../domain/intake';
import { atStep, beforeItsEnd, forkedDialog } from '../domain/origin';
import type { LiveRun, Run } from '../domain/run';
import type { Definitions } from './definitions.adapter';
import type { RunLog } from './run-log.adapter';
import { callPrefixOf } from './run-log.adapter';
import type { Texts } from './texts.adapter';

export interface OriginPorts {
  runs: RunLog;
  definitions: Definitions;
  texts: Texts;
  clock: () => number;
  asking: { ttlMs: number };
  /** Offered to every run. */
  coreTools: readonly ToolDefinition[];
}

/** What a run is made of: by its agent alone, or by the run that it begins with. */
export interface Beginnings {
  definition: DefinitionSnapshot;
  settings: RunSettings;
  origin?: RunOrigin;
  takenOver?: TakenOver;
}

interface Wish {
  org: string;
  runId: string;
  request: RunRequest;
  agent: AgentFacts;
  catalogue: CatalogueFacts;
}

interface Source {
  definition: DefinitionSnapshot;
  run: Run;
  events: Awaited<ReturnType<RunLog['loadWhole']>>['events'];
  material: Awaited<ReturnType<RunLog['loadWhole']>>['material'];
}

type Of<K extends OriginRequest['kind']> = Extract<OriginRequest, { kind: K }>;

/** Makes runs out of what others have recorded: nothing is bought again, and nothing is written again (domain, section 4). */
export class Origins {
  constructor(private readonly ports: OriginPorts) {}

  async begin(wish: Wish): Promise<Beginnings> {
    const { request, agent, catalogue } = wish;
    const { origin } = request;
    const anew = () => definitionFor(agent, catalogue, this.ports.coreTools);
    if (!origin) return { definition: anew(), settings: settingsFor(agent, request) };
    const source = await this.source(wish, origin.run_id);
    switch (origin.kind) {
      case 'fork':
        return this.fork(wish, origin, source);
      case 'continuation':
        return this.continue(wish, origin, source);
      case 'retry':
        return {
          definition: anew(),
          settings: settingsFor(agent, request),
          origin: { kind: 'retry', runId: origin.run_id, step: 0 },
        };
      default:
        return origin satisfies never;
    }
  }

  private async fork(wish: Wish, origin: Of<'fork'>, source: Source): Promise<Beginnings> {
    const { agent, catalogue, request } = wish;
    const point = atStep(source.events, origin.step, source.material);
    if (point.run.phase.name === 'answered' && !origin.says_input)
      throw new Problem('invalid_request', 'The run had answered by then; say what comes next', {
        errors: [{ pointer: '/input', detail: 'is needed after an answer' }],
      });
    const definition = changedDefinition(source.definition, origin, catalogue, this.ports.coreTools);
    const settings = settingsFor(agent, { ...request, mode: request.mode ?? point.run.mode });
    const writes = origin.repeat_writes === true ? [] : point.writes;
    return {
      definition,
      settings,
      origin: { kind: 'fork', runId: origin.run_id, step: point.step },
      takenOver: {
        dialog: await this.store(wish.org, forkedDialog(point, origin.says_input)),
        saidBefore: !origin.says_input,
        open: [],
        writes: writes.length > 0 ? await this.store(wish.org, writes) : null,
      },
    };
  }

  private async continue(wish: Wish, origin: Of<'continuation'>, source: Source): Promise<Beginnings> {
    const { run } = source;
    const before = beforeItsEnd(source.events, source.material);
    if (run.situation !== 'ended' || !before)
      throw new Problem('run_not_controllable', 'The run has not ended; control it as it is.', {});
    requireContinuable(run, origin.decision !== undefined);
    const { agent, catalogue, request } = wish;
    const settings = settingsFor(agent, { ...request, mode: request.mode ?? before.mode });
    return {
      definition: changedDefinition(source.definition, {}, catalogue, this.ports.coreTools),
      settings: { ...settings, bounds: boundsLeft(before, origin.extend) },
      origin: { kind: 'continuation', runId: origin.run_id, step: before.steps },
      takenOver: await this.taken(wish, origin, before),
    };
  }

  private async taken(
    { org, runId, request }: Wish,
    { decision }: Of<'continuation'>,
    before: LiveRun,
  ): Promise<TakenOver> {
    const answer = decision
      ? {
          decision,
          decidedBy: request.requested_by,
          digest: decision.arguments === undefined ? null : digestOf(decision.arguments),
          grantExpiresAt: this.ports.clock() + this.ports.asking.ttlMs,
        }
      : null;
    const open = await Promise.all(
      openCalls(before, answer).map(async (call) => ({
        ...call,
        arguments:
          'text' in call.arguments
            ? await this.ports.texts.store(org, call.arguments.text, 8)
            : call.arguments,
      })),
    );
    const dialog = await this.store(org, continuedDialog(before, callPrefixOf(runId)));
    return { dialog, saidBefore: true, open, writes: null };
  }

  private store(org: string, value: unknown): ReturnType<Texts['store']> {
    return this.ports.texts.store(org, JSON.stringify(value), 2);
  }

  private async source({ org, agent }: Wish, runId: string): Promise<Source> {
    const { run, events, material } = await this.ports.runs.loadWhole(org, runId);
    const identity = run.situation === 'none' ? null : run.identity;
    const digest = run.situation === 'none' ? null : run.definition;
    if (
      !identity ||
      digest === null ||
      identity.agentId !== agent.agentId ||
      (run.situation === 'ended' && run.deleted)
    )
      throw new Problem('not_found', 'There is no such run of the agent to begin with.', {
        errors: [{ pointer: '/origin/run_id', detail: 'does not exist' }],
      });
    const definition = await this.ports.definitions.get(org, digest);
    if (!definition)
      throw new Problem('conflict', 'The definition that the run had is gone; start it anew.', {});
    return { run, events, material, definition };
  }
}
