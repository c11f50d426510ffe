import type { LogStream } from '@runyard/contracts';
import type { Projection } from '@runyard/persistence';
import type { ServiceConfig } from './config';
import type { Tracing } from './tracing';

export interface ServiceOptions {
  /** Name of the service: its RPC subjects, its CloudEvents source, its log lines. */
  name: string;
  config: ServiceConfig;
  /** Projections that this service owns and runs. */
  projections?: readonly Projection[];
  /** Connections for acrossOrgs(); default: enough for each projection and four more. */
  acrossPoolSize?: number;
  /** Streams whose raw copy in the archive this service keeps. */
  archives?: readonly LogStream[];
  /** Applies the service's migrations as owner; called at start only where `config.database.ownerUrl` is set. */
  migrate?: (ownerUrl: string) => Promise<unknown>;
  /** False where another part of the process reports event loop and memory. */
  processMetrics?: boolean;
  /** Takes the service's spans; default: what its configuration says. */
  tracing?: Tracing;
  /** Where log lines go; default stdout. */
  logTo?: { write(line: string): void };
}
