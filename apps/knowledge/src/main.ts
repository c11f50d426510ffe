import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { readKnowledgeConfig } from './config';
import { KnowledgeModule } from './knowledge.module';

void bootstrap(() => KnowledgeModule.forRoot(readKnowledgeConfig()));
