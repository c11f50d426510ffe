import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { reasonOf } from '../outcomes';
import { type AllowPrivate, refusalOf } from './addresses';
import { BeforeSending, Forbidden } from '../exchange.errors';

/** All addresses of a host name. Rejects where there are none. */
export type Resolver = (host: string) => Promise<readonly string[]>;

export interface HttpRules {
  /** Host names (`api.example.com`), suffixes (`*.example.com`, which leaves out example.com itself) or `*`. IP addresses match by `*` or exactly. */
  allowedHosts: readonly string[];
  allowPrivate: AllowPrivate;
  /** Default: the system's resolver. */
  resolver?: Resolver;
}

const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address }) => address);

/**
 * The addresses that a URL may be connected at, all of them checked; the caller connects to one of these and asks no
 * resolver again, so a second answer cannot differ (C64). The URL is normalised: numeric and hex host forms are plain
 * addresses by now. Throws Forbidden and BeforeSending.
 */
export async function checkedAddresses(url: URL, rules: HttpRules): Promise<readonly string[]> {
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new Forbidden(`${url.protocol} is not http or https`);
  if (url.username || url.password)
    throw new Forbidden('the URL holds a user name or password; use a credential by name');
  const host = hostOf(url);
  if (!isAllowed(host, rules.allowedHosts))
    throw new Forbidden(`host ${host} is not on the list of allowed hosts`);
  const addresses = isIP(host) ? [host] : await resolved(host, rules.resolver ?? systemResolver);
  for (const address of addresses) {
    const refusal = refusalOf(address, rules.allowPrivate);
    if (refusal) throw new Forbidden(`host ${host} is at ${refusal}`);
  }
  return addresses;
}

async function resolved(host: string, resolver: Resolver): Promise<readonly string[]> {
  const addresses = await resolver(host).catch((error: unknown) => {
    throw new BeforeSending(`host ${host} cannot be resolved (${reasonOf(error)})`);
  });
  if (addresses.length === 0) throw new BeforeSending(`host ${host} has no address`);
  return addresses;
}

/** Host name or address without brackets and without the dot of the DNS root. */
const hostOf = (url: URL): string =>
  url.hostname
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();

function isAllowed(host: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    const pattern = entry.toLowerCase().replace(/\.$/, '');
    if (pattern === '*' || pattern === host) return true;
    // A suffix says nothing about addresses: "*.1" must not match 127.0.0.1.
    return pattern.startsWith('*.') && isIP(host) === 0 && host.endsWith(pattern.slice(1));
  });
}
