import { readConfig, readEnv } from '@runyard/service';
import type { Env, ServiceConfig } from '@runyard/service';
import { z } from 'zod';
import type { TokenSettings } from './credentials/token-verifier';

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((n) => n >= min && n <= max, `must be a whole number from ${min} to ${max}`);
const webUrl = z.string().regex(/^https?:\/\/[^\s?#]+$/, 'must be an http or https URL');
const list = (of: RegExp, what: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((part) => part.trim()))
    .refine((parts) => parts.every((part) => of.test(part)), what);
const claim = z.string().regex(/^[A-Za-z0-9_:/.-]{1,120}$/, 'must be the name of a claim');

/** Signatures by key pairs only: with HMAC everybody who can check tokens could also make them. */
const ALGORITHM = /^(RS|ES|PS)(256|384|512)$|^EdDSA$/;

const gatewayEnv = z.object({
  RUNYARD_HTTP_HOST: z.string().default('127.0.0.1'),
  RUNYARD_HTTP_PORT: wholeNumber(0, 65_535).default(8_080),
  RUNYARD_PUBLIC_URL: webUrl.optional(),
  RUNYARD_TRUST_PROXY: z
    .string()
    .regex(/^[0-9A-Fa-f.:/, ]+$/, 'must be addresses or networks of proxies, separated by commas')
    .optional(),
  RUNYARD_MAX_BODY_BYTES: wholeNumber(1_024, 100_000_000).default(2_000_000),
  RUNYARD_RATE_QUOTA: wholeNumber(1, 10_000_000).default(1_200),
  RUNYARD_RATE_WINDOW_SECONDS: wholeNumber(1, 86_400).default(60),
  RUNYARD_KEY_CACHE_SECONDS: wholeNumber(1, 3_600).default(30),
  RUNYARD_MAX_VIEWERS: wholeNumber(1, 1_000_000).default(10_000),
  RUNYARD_VIEWER_BUFFER: wholeNumber(1_024, 100_000_000).default(1_000_000),
  RUNYARD_JWT_JWKS_URL: webUrl.optional(),
  RUNYARD_JWT_ISSUER: z.string().optional(),
  RUNYARD_JWT_AUDIENCE: z.string().optional(),
  RUNYARD_JWT_ALGORITHMS: list(ALGORITHM, 'must be asymmetric algorithms, such as RS256,ES256').default([
    'RS256',
    'ES256',
  ]),
  RUNYARD_JWT_ORG_CLAIM: claim.default('org_id'),
  RUNYARD_JWT_USER_CLAIM: claim.default('sub'),
  RUNYARD_JWT_ROLES_CLAIM: claim.default('roles'),
});
type GatewayEnv = z.infer<typeof gatewayEnv>;

/** What the gateway needs to run; built from the environment, or passed in by a launcher that hosts several services. */
export interface GatewayConfig {
  service: ServiceConfig;
  /** Where the API listens; port 0: any free one. */
  http: { host: string; port: number; maxBodyBytes: number; trustProxy: false | string };
  /** Origin for absolute links in problem documents; '': relative ones. */
  publicUrl: string;
  rate: { quota: number; windowSeconds: number };
  /** Credentials that do not hold, per address. Default: enough for a misconfigured client, too few for guessing. */
  failures?: { quota: number; windowSeconds: number };
  keyCacheMs: number;
  streams: { maxViewers: number; maxWaiting: number; pingMs: number; retryMs: number };
  /** Undefined: only API keys are accepted. */
  tokens?: TokenSettings;
}

/** A client that lost its stream comes back after this long. */
const RETRY_MS = 2_000;
/** Comment lines keep proxies from closing a quiet stream. */
const PING_MS = 15_000;

/** What a launcher leaves out. */
export const GATEWAY_DEFAULTS: Omit<GatewayConfig, 'service'> = {
  http: { host: '127.0.0.1', port: 8_080, maxBodyBytes: 2_000_000, trustProxy: false },
  publicUrl: '',
  rate: { quota: 1_200, windowSeconds: 60 },
  keyCacheMs: 30_000,
  streams: { maxViewers: 10_000, maxWaiting: 1_000_000, pingMs: PING_MS, retryMs: RETRY_MS },
};

/** Reads the environment. Throws ConfigError, which names variables and never values. */
export function readGatewayConfig(env?: Env): GatewayConfig {
  const v = readEnv(gatewayEnv, env);
  const tokens = tokensOf(readEnv(withTokenRules, env));
  return {
    service: readConfig(env),
    http: {
      host: v.RUNYARD_HTTP_HOST,
      port: v.RUNYARD_HTTP_PORT,
      maxBodyBytes: v.RUNYARD_MAX_BODY_BYTES,
      trustProxy: v.RUNYARD_TRUST_PROXY ?? false,
    },
    publicUrl: v.RUNYARD_PUBLIC_URL?.replace(/\/+$/, '') ?? '',
    rate: { quota: v.RUNYARD_RATE_QUOTA, windowSeconds: v.RUNYARD_RATE_WINDOW_SECONDS },
    keyCacheMs: v.RUNYARD_KEY_CACHE_SECONDS * 1_000,
    streams: {
      maxViewers: v.RUNYARD_MAX_VIEWERS,
      maxWaiting: v.RUNYARD_VIEWER_BUFFER,
      pingMs: PING_MS,
      retryMs: RETRY_MS,
    },
    ...(tokens ? { tokens } : {}),
  };
}

/** Tokens are accepted only where issuer and audience are pinned as well: without them any tenant of a provider could come in. */
const withTokenRules = gatewayEnv.superRefine((v, context) => {
  if (v.RUNYARD_JWT_JWKS_URL === undefined) return;
  for (const name of ['RUNYARD_JWT_ISSUER', 'RUNYARD_JWT_AUDIENCE'] as const)
    if (v[name] === undefined)
      context.addIssue({ code: 'custom', path: [name], message: 'is required with RUNYARD_JWT_JWKS_URL' });
});

function tokensOf(v: GatewayEnv): TokenSettings | undefined {
  const { RUNYARD_JWT_JWKS_URL: jwksUrl, RUNYARD_JWT_ISSUER: issuer, RUNYARD_JWT_AUDIENCE: audience } = v;
  if (jwksUrl === undefined || issuer === undefined || audience === undefined) return undefined;
  return {
    jwksUrl,
    issuer,
    audience,
    algorithms: v.RUNYARD_JWT_ALGORITHMS,
    claims: {
      org: v.RUNYARD_JWT_ORG_CLAIM,
      user: v.RUNYARD_JWT_USER_CLAIM,
      roles: v.RUNYARD_JWT_ROLES_CLAIM,
    },
  };
}
