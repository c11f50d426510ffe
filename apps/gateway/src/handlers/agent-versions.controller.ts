import { Controller } from '@nestjs/common';
import {
  agentVersionSchema,
  diffVersionsSchema,
  listAgentVersionsSchema,
  restoreVersionSchema,
} from '@runyard/contracts';
import type { AgentRow } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY, OWNERS } from './access';
import { NextRuns } from './next-runs';
import { agentRow, agentVersionRow, pageOf, versionDiffRow } from './rows';
import { Services } from './services.adapter';

const tag = 'agents';

/** Versions of agents: passed on to the agent registry. */
@Controller()
export class AgentVersionsController {
  constructor(
    private readonly services: Services,
    private readonly nextRuns: NextRuns,
  ) {}

  @Route({
    method: 'GET',
    path: '/v1/agents/:agent_id/versions',
    name: 'agents.versions',
    tag,
    summary: 'List the versions of an agent, newest first',
    access: ANYBODY,
    input: listAgentVersionsSchema,
    success: [
      { status: 200, description: 'A page of versions', body: pageOf('AgentVersionPage', agentVersionRow) },
    ],
    problems: ['invalid_cursor'],
  })
  versions(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'agents.versions');
  }

  @Route({
    method: 'GET',
    path: '/v1/agents/:agent_id/versions/:version',
    name: 'agents.version',
    tag,
    summary: 'Read one version of an agent',
    access: ANYBODY,
    input: agentVersionSchema,
    success: [{ status: 200, description: 'The version', body: agentVersionRow }],
  })
  version(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'agents.version');
  }

  @Route({
    method: 'GET',
    path: '/v1/agents/:agent_id/versions/:version/diff',
    name: 'agents.diff',
    tag,
    summary: 'Read what a version changed, field by field',
    description: 'Compared with the version before it, or with `from`; the prompt line by line.',
    access: ANYBODY,
    input: diffVersionsSchema,
    success: [{ status: 200, description: 'The differences', body: versionDiffRow }],
  })
  diff(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'agents.diff');
  }

  @Route({
    method: 'POST',
    path: '/v1/agents/:agent_id/versions/:version/restore',
    name: 'agents.restore',
    tag,
    summary: 'Go back to an old version: its behaviour becomes a new one',
    description: 'Refused with the field where it names a model or tool that has been removed since.',
    access: OWNERS,
    input: restoreVersionSchema,
    success: [{ status: 200, description: 'The agent as it is now', body: agentRow }],
    problems: ['version_mismatch', 'conflict'],
    idempotency: 'replayed',
  })
  async restore(@FromRequest() call: Call): Promise<unknown> {
    return this.nextRuns.of(call, await this.services.registry<AgentRow>(call, 'agents.restore'));
  }
}
