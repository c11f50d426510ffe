import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnApplicationBootstrap } from '@nestjs/common';
import type { EventLog, WorkQueues } from '@runyard/event-log';
import {
  EVENT_LOG,
  LOGGER,
  ProjectorHost,
  REACTION_BATCH,
  ServiceModule,
  WORK_QUEUES,
  reactionProjection,
} from '@runyard/service';
import type { Logger, ServiceOptions } from '@runyard/service';
import type { AgentRegistryConfig } from './config';
import { AgentsController } from './handlers/agents.controller';
import { catalogueReaction } from './handlers/catalogue-reactions.process';
import { KeysController } from './handlers/keys.controller';
import { ModelsController } from './handlers/models.controller';
import { OrganizationsController } from './handlers/organizations.controller';
import { ownerReaction, peopleReaction } from './handlers/people-reactions.process';
import { PeopleController } from './handlers/people.controller';
import { RegistryLog } from './handlers/registry-log.adapter';
import { ToolsController } from './handlers/tools.controller';
import { VersionsController } from './handlers/versions.controller';
import { migrateAgentRegistry } from './migrations';
import { AGENT_REGISTRY_PROJECTIONS } from './projections';

const NAME = 'agent-registry';
const CONTROLLERS = [
  AgentsController,
  VersionsController,
  ModelsController,
  ToolsController,
  OrganizationsController,
  PeopleController,
  KeysController,
];

/** Agents, their versions, the allowed models, the tools and the people: who may do what with which agent. */
@Module({})
export class AgentRegistryModule implements OnApplicationBootstrap {
  constructor(
    @Inject(ProjectorHost) private readonly projectors: ProjectorHost,
    @Inject(RegistryLog) private readonly registry: RegistryLog,
    @Inject(WORK_QUEUES) private readonly queues: WorkQueues,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  static forRoot(config: AgentRegistryConfig, overrides: Partial<ServiceOptions> = {}): DynamicModule {
    const service = ServiceModule.forRoot({
      name: NAME,
      config: config.service,
      projections: AGENT_REGISTRY_PROJECTIONS.map(({ projection }) => projection),
      archives: ['AGENTS', 'PEOPLE'],
      migrate: migrateAgentRegistry,
      // Two projections, two archives and three reactions, each with a transaction at a time, and reads of positions and keys.
      acrossPoolSize: 12,
      ...overrides,
    });
    const registry = {
      provide: RegistryLog,
      inject: [EVENT_LOG],
      useFactory: (log: EventLog) => new RegistryLog(log),
    };
    return { module: AgentRegistryModule, imports: [service], providers: [registry, ...CONTROLLERS] };
  }

  onApplicationBootstrap(): void {
    const reactions = [
      catalogueReaction(this.registry),
      peopleReaction(this.registry),
      ownerReaction(this.registry),
    ];
    const projections = reactions.map((reaction) => reactionProjection(reaction, this.queues, this.logger));
    this.projectors.start(projections, { batchSize: REACTION_BATCH });
  }
}
