/** Oldest server whose behaviour is relied on (protocol P10): older ones ignore options silently or lose streams on kill -9. */
export const MINIMUM_SERVER = '2.10.23';

/** The server, or a stream on it, is not what Runyard relies on. `facts` names each difference. */
export class UnreliableServer extends Error {
  constructor(
    message: string,
    readonly facts: readonly string[] = [],
  ) {
    super(facts.length ? `${message}: ${facts.join('; ')}` : message);
  }
}

const numbers = (version: string): number[] =>
  (/^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []).slice(1).map(Number);

/** True where the dotted version is at least `minimum`; false for a version that cannot be read. */
export function atLeast(version: string, minimum: string): boolean {
  const have = numbers(version);
  if (have.length !== 3) return false;
  const difference = numbers(minimum)
    .map((part, i) => (have[i] ?? 0) - part)
    .find((d) => d !== 0);
  return (difference ?? 0) >= 0;
}

/** What a connected server tells of itself. */
export interface ServerInfo {
  version: string;
  jetstream?: boolean;
  max_payload: number;
  headers?: boolean;
}

/** Throws UnreliableServer unless the server can be relied on. */
export function checkServer(info: ServerInfo | undefined): void {
  if (!info) throw new UnreliableServer('The NATS server told nothing of itself');
  if (!atLeast(info.version, MINIMUM_SERVER))
    throw new UnreliableServer(
      `The NATS server is ${info.version}; ${MINIMUM_SERVER} or newer is needed, because older ones ignore stream options silently`,
    );
  if (!info.jetstream)
    throw new UnreliableServer('The NATS server runs without JetStream; start it with JetStream on');
  if (!info.headers) throw new UnreliableServer('The NATS server does not carry headers');
  if (info.max_payload < 1024 * 1024)
    throw new UnreliableServer(
      `The NATS server takes payloads up to ${info.max_payload} bytes; set max_payload to 1MB`,
    );
}

/** Addresses, and the login that stands in one of them: the client library knows no login in a URL. */
export function withoutLogin(given: string | string[]): { servers: string[]; user?: string; pass?: string } {
  const urls = [given].flat();
  const first = urls.find((url) => url.includes('@'));
  const login = /^[a-z]+:\/\/([^:@]+):([^@]*)@/.exec(first ?? '');
  const servers = urls.map((url) => url.replace(/^([a-z]+:\/\/)[^@]*@/, '$1'));
  if (!login) return { servers };
  return { servers, user: decodeURIComponent(login[1] ?? ''), pass: decodeURIComponent(login[2] ?? '') };
}
