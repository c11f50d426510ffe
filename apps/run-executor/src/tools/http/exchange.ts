import type { LookupFunction } from 'node:net';
import type { Readable } from 'node:stream';
import { isIPv6 } from 'node:net';
import { buildConnector, Client } from 'undici';
import { reasonOf } from '../outcomes';
import { checkedAddresses, type HttpRules } from './destination';
import { AfterSending, BeforeSending } from '../exchange.errors';

/** A server that does not accept within this time is down. */
const CONNECT_TIMEOUT_MS = 10_000;

export interface HttpRequest {
  url: URL;
  method: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
}

export interface HttpAnswer {
  status: number;
  /** Lower-case names. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Must be consumed or destroyed: the connection ends with it. */
  body: Readable;
}

/**
 * One request over a connection of its own to a checked address; follows no redirect. A fresh connection makes "sent or
 * not" certain: on a reused one, a close by the server looks like a lost request. Throws Forbidden, BeforeSending,
 * AfterSending; an abort comes as one of the last two, by how far the request had come.
 */
export async function exchange(
  request: HttpRequest,
  rules: HttpRules,
  signal: AbortSignal,
): Promise<HttpAnswer> {
  const { url, method, headers, body } = request;
  const addresses = await unlessAborted(checkedAddresses(url, rules), signal);
  const progress = { connected: false };
  const client = clientFor(url, addresses, progress);
  try {
    const path = url.pathname + url.search;
    const options = { path, method, headers, ...(body !== undefined && { body }), signal } as const;
    const answer = await client.request(options);
    answer.body.once('close', () => void client.destroy());
    return { status: answer.statusCode, headers: answer.headers, body: answer.body };
  } catch (error) {
    void client.destroy();
    throw progress.connected ? new AfterSending(reasonOf(error)) : new BeforeSending(reasonOf(error));
  }
}

function clientFor(url: URL, addresses: readonly string[], progress: { connected: boolean }): Client {
  const connect = buildConnector({
    timeout: CONNECT_TIMEOUT_MS,
    lookup: pinned(addresses),
    autoSelectFamily: true,
  });
  return new Client(url.origin, {
    // The call's own time-out is the signal's; undici's would end a slow but allowed tool.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) =>
      connect(options, (...outcome) => {
        progress.connected ||= outcome[0] === null;
        callback(...outcome);
      }),
  });
}

/** Answers every look-up with the addresses that were checked. */
const pinned =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    const [first] = found;
    if (options.all || !first) callback(null, found);
    else callback(null, first.address, first.family);
  };

/** Name resolution cannot be aborted; its late answer is dropped. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(new BeforeSending('aborted'));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
