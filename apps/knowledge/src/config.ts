import { readConfig } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';

/** The knowledge store needs nothing beyond what every service needs. */
export interface KnowledgeConfig {
  service: ServiceConfig;
}

export function readKnowledgeConfig(env: Env = process.env): KnowledgeConfig {
  return { service: readConfig(env) };
}
