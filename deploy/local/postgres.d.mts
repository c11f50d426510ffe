export interface PostgresOptions {
  /** Where the data lies; made on the first start. Its superuser password lies in `<dataDir>.password` (mode 0600). */
  dataDir: string;
  /** Default: a free one. */
  port?: number;
  /** True (default): fsync, survives a power cut. False: survives kill -9 of any process only; for tests. */
  durable?: boolean;
  /** No passwords. For throw-away data of tests only: every local user is then a superuser. */
  trust?: boolean;
  /** A database that is made where it is missing and that `url` names. Default: `postgres`. */
  database?: string;
  /** Takes binaries from one place only. Default: npm's, else Debian's. */
  from?: 'npm' | 'debian';
  /** Hears the server's own log lines. */
  log?: (line: string) => void;
}

export interface RunningPostgres {
  /** The superuser's URL, with its password. */
  url: string;
  port: number;
  pid: number;
  /** Fast shutdown; resolves when the process has ended. */
  stop(): Promise<void>;
}

/** Starts Postgres from npm's binaries, else Debian's; as root it runs as `postgres` or `nobody`. Loopback TCP only. */
export function startPostgres(options: PostgresOptions): Promise<RunningPostgres>;
