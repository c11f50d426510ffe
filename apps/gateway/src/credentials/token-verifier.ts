import { createRemoteJWKSet, errors, jwtVerify } from 'jose';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { Problem, ROLES } from '@runyard/contracts';
import type { Role } from '@runyard/contracts';
import { unauthenticated } from './credential';
import type { Credential } from './credential';

/** How tokens of an identity provider are checked and read. */
export interface TokenSettings {
  jwksUrl: string;
  issuer: string;
  audience: string;
  /** Pinned: a token never chooses how it is checked. */
  algorithms: readonly string[];
  /** Names of the claims; a dot leads into an object. */
  claims: { org: string; user: string; roles: string };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const CLOCK_TOLERANCE_SECONDS = 5;

/** Tokens (JWT) of the identity provider, checked against its published keys. */
export class TokenVerifier {
  private readonly keys: JWTVerifyGetKey;

  constructor(private readonly settings: TokenSettings) {
    this.keys = createRemoteJWKSet(new URL(settings.jwksUrl), {
      timeoutDuration: 3_000,
      cooldownDuration: 10_000,
    });
  }

  /** Throws `unauthenticated` with what is wrong with the token, `unavailable` where the provider's keys cannot be read. */
  async verify(token: string): Promise<Credential> {
    const { issuer, audience, algorithms } = this.settings;
    try {
      const { payload } = await jwtVerify(token, this.keys, {
        issuer,
        audience,
        algorithms: [...algorithms],
        clockTolerance: CLOCK_TOLERANCE_SECONDS,
        requiredClaims: ['exp'],
      });
      return credentialOf(payload, this.settings.claims);
    } catch (error) {
      throw refusalOf(error);
    }
  }
}

function refusalOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof errors.JWTExpired) return unauthenticated('The token has expired');
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthenticated(`The token's claim "${error.claim}" is missing or not for this platform`);
  if (error instanceof errors.JOSEAlgNotAllowed)
    return unauthenticated('The token is signed with an algorithm that is not accepted');
  if (error instanceof errors.JWKSTimeout) return unreachable();
  if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JWKSNoMatchingKey)
    return unauthenticated("The token is not signed by the platform's identity provider");
  // The key set could not be fetched (jose has the plain error for that) or fetch itself failed.
  if (!(error instanceof errors.JOSEError) || error.code === 'ERR_JOSE_GENERIC') return unreachable();
  return unauthenticated('The credential is neither an API key nor a valid token');
}

const unreachable = () =>
  new Problem('unavailable', 'The identity provider does not answer, so tokens cannot be checked now', {
    retryAfterSeconds: 5,
  });

/** Pure: who a checked token stands for. */
export function credentialOf(payload: JWTPayload, claims: TokenSettings['claims']): Credential {
  const org = uuidClaim(payload, claims.org);
  const user = uuidClaim(payload, claims.user);
  return {
    id: `user:${user}`,
    caller: { org, actor: `user:${user}`, userId: user, roles: rolesOf(claimOf(payload, claims.roles)) },
    expiresAt: payload.exp === undefined ? null : payload.exp * 1000,
  };
}

function uuidClaim(payload: JWTPayload, name: string): string {
  const value = claimOf(payload, name);
  if (typeof value === 'string' && UUID.test(value.toLowerCase())) return value.toLowerCase();
  throw unauthenticated(`The token's claim "${name}" is missing or no UUID`);
}

/** A claim by its name, or by a path of names with dots between them. */
function claimOf(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  return name
    .split('.')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, part)
          ? Reflect.get(value, part)
          : undefined,
      payload,
    );
}

/** Roles of the platform among those that the provider names, as a list or as words in a text; others mean nothing here. */
function rolesOf(claim: unknown): Role[] {
  const named: readonly unknown[] =
    typeof claim === 'string' ? claim.split(/[\s,]+/) : Array.isArray(claim) ? claim : [];
  return ROLES.filter((role) => named.includes(role));
}
