import { readConfig } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';

/** The registry needs nothing beyond what every service needs. */
export interface AgentRegistryConfig {
  service: ServiceConfig;
}

export function readAgentRegistryConfig(env: Env = process.env): AgentRegistryConfig {
  return { service: readConfig(env) };
}
