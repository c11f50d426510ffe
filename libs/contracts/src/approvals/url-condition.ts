import type { ArgumentCondition } from './permission.events';
import type { Certainty, Stance } from './certainty';

type UrlWish = Extract<ArgumentCondition, { is: 'url' }>;

/** What one reader of URLs takes for a separator and another for a letter. */
const AMBIGUOUS = /[\\\s\p{Cc}]/u;
const OWN_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443, ftp: 21, ws: 80, wss: 443 };

/** A host as every reader sees it: lower case, punycode, IPv4 in its one form, without the root's dot. Undefined: no host. */
export function plainHost(host: string): string | undefined {
  if (/[/\\?#@\s]/.test(host)) return undefined;
  try {
    return new URL(`http://${host}`).hostname.replace(/\.$/, '') || undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a URL names one of the hosts, by what a parser reads and never by its letters. `strict` refuses a user in it, another
 * port than the scheme's own unless named, and other schemes than http and https; `wary` minds only what the rule names.
 */
export function urlMatches(value: unknown, wish: UrlWish, stance: Stance): Certainty {
  const unsure = stance === 'strict' ? 'no' : 'unknown';
  if (typeof value !== 'string') return unsure;
  const url = parsed(value);
  if (!url || (stance === 'strict' && (AMBIGUOUS.test(value) || url.username !== '' || url.password !== '')))
    return unsure;
  const here =
    wish.hosts.some((host) => hostFits(host, url.hostname)) &&
    schemeFits(url, wish, stance) &&
    portFits(url, wish, stance);
  const found = here ? pathFits(url.pathname, wish.path) : 'no';
  if (found === 'yes') return 'yes';
  return found === 'unknown' || AMBIGUOUS.test(value) ? unsure : 'no';
}

function parsed(value: string): URL | undefined {
  try {
    const url = new URL(value);
    return url.hostname === '' ? undefined : url;
  } catch {
    return undefined;
  }
}

function hostFits(wanted: string, hostname: string): boolean {
  const host = plainHost(hostname);
  if (wanted === '*') return true;
  if (!wanted.startsWith('*.')) return host !== undefined && host === plainHost(wanted);
  const parent = plainHost(wanted.slice(2));
  return host !== undefined && parent !== undefined && host.endsWith(`.${parent}`);
}

const schemeOf = (url: URL): string => url.protocol.slice(0, -1);

function schemeFits(url: URL, { schemes }: UrlWish, stance: Stance): boolean {
  if (schemes) return schemes.includes(schemeOf(url));
  return stance === 'wary' || ['http', 'https'].includes(schemeOf(url));
}

function portFits(url: URL, { ports }: UrlWish, stance: Stance): boolean {
  const own = OWN_PORTS[schemeOf(url)];
  const port = url.port === '' ? own : Number(url.port);
  if (ports) return port !== undefined && ports.includes(port);
  return stance === 'wary' || port === own;
}

/** By whole names: `/v1` holds `/v1/x` and not `/v10`. What a server may still decode or join is unknown. */
function pathFits(pathname: string, path: string | undefined): Certainty {
  if (path === undefined || path === '/') return 'yes';
  if (/%|\/\//.test(pathname)) return 'unknown';
  const prefix = path.replace(/\/+$/, '');
  return pathname === prefix || pathname.startsWith(`${prefix}/`) ? 'yes' : 'no';
}
