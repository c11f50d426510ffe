import 'reflect-metadata';
import { bootstrap } from '@runyard/service';
import { AgentRegistryModule } from './agent-registry.module';
import { readAgentRegistryConfig } from './config';

void bootstrap(() => AgentRegistryModule.forRoot(readAgentRegistryConfig()));
