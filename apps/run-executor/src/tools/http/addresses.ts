import ipaddr from 'ipaddr.js';

/**
 * `false`: public addresses only. `true`: also loopback, RFC 1918, CGNAT and unique local ones. A list of CIDR blocks:
 * also what lies in them, whatever kind it is.
 */
export type AllowPrivate = boolean | readonly string[];

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** What `true` opens. Link-local stays shut: cloud metadata services, and so credentials, live there. */
const PRIVATE_KINDS = new Set(['loopback', 'private', 'carrierGradeNat', 'uniqueLocal']);

/**
 * Why an address may not be connected to, in words, or undefined where it may (C64). IPv6 forms that carry an IPv4 address
 * (mapped, compatible, NAT64, 6to4) are refused unless a listed block holds them and the address inside is allowed too.
 */
export function refusalOf(address: string, allow: AllowPrivate): string | undefined {
  const parsed = parse(address);
  if (!parsed) return 'not an IP address';
  const kind = kindOf(parsed);
  if (kind === 'public') return undefined;
  if (inListedBlock(parsed, allow)) {
    const inside = embedded(parsed);
    return inside ? refusalOf(inside.toString(), allow) : undefined;
  }
  return allow === true && PRIVATE_KINDS.has(kind) ? undefined : `a ${kind} address`;
}

function parse(address: string): Address | undefined {
  try {
    // Strict four-part form: ipaddr.js would also read 127.1 and 0x7f.1, which URLs have normalised by now.
    return ipaddr.IPv6.isValid(address)
      ? ipaddr.IPv6.parse(address)
      : ipaddr.IPv4.isValidFourPartDecimal(address)
        ? ipaddr.IPv4.parse(address)
        : undefined;
  } catch {
    return undefined;
  }
}

function kindOf(address: Address): string {
  const range: string = address.range();
  if (range !== 'unicast') return range;
  if (address instanceof ipaddr.IPv4) return 'public';
  if (embedded(address)) return 'ipv4Compatible';
  return address.match(GLOBAL_UNICAST) ? 'public' : 'reserved';
}

/** Everything that is routed in the IPv6 internet; what lies outside is nobody's or somebody's own. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];
const COMPATIBLE: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('::'), 96];

/** The IPv4 address inside a transitional IPv6 form. */
function embedded(address: Address): ipaddr.IPv4 | undefined {
  if (address instanceof ipaddr.IPv4) return undefined;
  const bytes = address.toByteArray();
  const range: string = address.range();
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6));
  const last = range === 'ipv4Mapped' || range === 'rfc6052' || range === 'rfc6145';
  if (last || (range === 'unicast' && address.match(COMPATIBLE))) return new ipaddr.IPv4(bytes.slice(12));
  return undefined;
}

function inListedBlock(address: Address, allow: AllowPrivate): boolean {
  if (typeof allow === 'boolean') return false;
  return allow.some((block) => {
    const [base, bits] = ipaddr.parseCIDR(block);
    return base.kind() === address.kind() && address.match(base, bits);
  });
}
