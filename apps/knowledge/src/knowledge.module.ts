import { Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import type { EventLog } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import { DATABASE, EVENT_LOG, ServiceModule } from '@runyard/service';
import type { ServiceOptions } from '@runyard/service';
import type { KnowledgeConfig } from './config';
import { DocumentsController } from './handlers/documents.controller';
import { GroupsController } from './handlers/groups.controller';
import { KnowledgeLog } from './handlers/knowledge-log.adapter';
import { KnowledgeController } from './handlers/knowledge.controller';
import { Reading } from './handlers/reading';
import { migrateKnowledge } from './migrations';
import { KNOWLEDGE_PROJECTIONS } from './projections';

/** Documents that agents may look up, and who may read them. */
@Module({})
export class KnowledgeModule {
  static forRoot(config: KnowledgeConfig, overrides: Partial<ServiceOptions> = {}): DynamicModule {
    const service = ServiceModule.forRoot({
      name: 'knowledge',
      config: config.service,
      projections: KNOWLEDGE_PROJECTIONS.map(({ projection }) => projection),
      migrate: migrateKnowledge,
      ...overrides,
    });
    const providers = [
      { provide: KnowledgeLog, inject: [EVENT_LOG], useFactory: (log: EventLog) => new KnowledgeLog(log) },
      {
        provide: Reading,
        inject: [KnowledgeLog, DATABASE],
        useFactory: (log: KnowledgeLog, db: Database) => new Reading(log, db),
      },
      DocumentsController,
      GroupsController,
      KnowledgeController,
    ];
    return { module: KnowledgeModule, imports: [service], providers };
  }
}
