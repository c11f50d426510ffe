/** Oldest nats-server that is used (protocol P10). */
export declare const MINIMUM_NATS_VERSION: string;
export declare function isOlder(version: string, than: string): boolean;
export declare function findNatsServer(options?: {
  log?: (line: string) => void;
  env?: Record<string, string | undefined>;
  cacheDir?: string;
}): Promise<string>;

export interface LocalNatsServer {
  url: string;
  port: number;
  pid: number;
  /** Resolves when the process is gone, for whatever reason. */
  exited: Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}
export declare function startNatsServer(options: {
  dir: string;
  port?: number;
  syncAlways?: boolean;
  log?: (line: string) => void;
  binary?: string;
  authorization?: string;
  env?: Record<string, string>;
}): Promise<LocalNatsServer>;
