import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  agentVersionSchema,
  diffVersionsSchema,
  listAgentVersionsSchema,
  restoreVersionSchema,
} from '@runyard/contracts';
import type { AgentRow, AgentVersionRow, Caller, VersionDiff } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireActive } from '../domain/agent';
import { requireOwnerOrAdmin, requireSight } from '../domain/rights';
import { versionChanges } from '../domain/version-diff';
import { findVersion, listVersions, ownerOfSlug } from '../projections/agent.queries';
import { catalogueReached } from '../projections/positions.queries';
import { agentAct } from './agent-act';
import { boundsOf } from './agent-answer';
import { RegistryLog } from './registry-log.adapter';
import { askerOf, orgOf, parsed } from './requests';

/** RPC `agents.versions` and what is done with versions: they are immutable and stay readable. */
@Injectable()
export class VersionsController {
  constructor(
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  @RpcMethod('agents.versions')
  async versions(
    caller: Caller,
    body: unknown,
  ): Promise<{ data: AgentVersionRow[]; next_cursor: string | null }> {
    const { agent_id: id, at_least: atLeast, ...page } = parsed(listAgentVersionsSchema, body);
    await this.requireHistory(caller, id, atLeast);
    return this.db.inOrg(orgOf(caller), (tx) => listVersions(tx, id, page));
  }

  @RpcMethod('agents.version')
  async version(caller: Caller, body: unknown): Promise<AgentVersionRow> {
    const { agent_id: id, version, at_least: atLeast } = parsed(agentVersionSchema, body);
    await this.requireHistory(caller, id, atLeast);
    return this.find(caller, id, version);
  }

  /** Field by field, texts line by line; the version before it where none is named. */
  @RpcMethod('agents.diff')
  async diff(caller: Caller, body: unknown): Promise<VersionDiff> {
    const { agent_id: id, version, from = version - 1, at_least: atLeast } = parsed(diffVersionsSchema, body);
    await this.requireHistory(caller, id, atLeast);
    const [before, after] = await Promise.all([from, version].map((number) => this.find(caller, id, number)));
    if (!before || !after) throw new Problem('not_found', 'There is no such version');
    return { agent_id: id, from, to: version, changes: versionChanges(before, after) };
  }

  /**
   * The behaviour of an old version as a new one; nothing where it is the present one. What has left the lists since is
   * refused by name: a version cannot come back with less than its author chose, and nobody would notice.
   */
  @RpcMethod('agents.restore')
  async restore(caller: Caller, body: unknown): Promise<AgentRow> {
    const { agent_id: id, version, if_match: ifMatch } = parsed(restoreVersionSchema, body);
    const org = orgOf(caller);
    const asker = askerOf(caller);
    const agent = requireActive(await this.registry.read(this.registry.agent(org, id)));
    requireOwnerOrAdmin(asker, agent.ownerId, 'The agent');
    await catalogueReached(this.db, `${await this.registry.endOfAgents()}.0`);
    const row = await this.find(caller, id, version);
    const { prompt, model_id: modelId, tools, bounds, approval_policy: approvalPolicy, mode } = row;
    const behaviour = { prompt, modelId, tools, bounds: boundsOf(bounds), approvalPolicy, mode };
    const catalogue = await this.registry.catalogue(org);
    const command = { type: 'UpdateAgent' as const, asker, ifMatch, catalogue, behaviour, details: {} };
    return agentAct(this.registry, caller, id, command);
  }

  private async find(caller: Caller, id: string, version: number): Promise<AgentVersionRow> {
    const row = await this.db.inOrg(orgOf(caller), (tx) => findVersion(tx, id, version));
    if (!row) throw new Problem('not_found', `The agent has no version ${version}`);
    return row;
  }

  /** Versions stay readable after the agent is gone: to who owned it last, and to those who see all. */
  private async requireHistory(caller: Caller, id: string, atLeast: string | undefined): Promise<void> {
    await catalogueReached(this.db, atLeast);
    const owner = await this.db.inOrg(orgOf(caller), (tx) => ownerOfSlug(tx, id));
    if (owner === null) throw new Problem('not_found', 'There is no such agent');
    requireSight(askerOf(caller), owner, 'The agent');
  }
}
