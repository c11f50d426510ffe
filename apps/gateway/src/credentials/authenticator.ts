import { createHash } from 'node:crypto';
import { Problem, parseSubject } from '@runyard/contracts';
import type { AuthenticatedKey, Caller } from '@runyard/contracts';
import type { EventLog } from '@runyard/event-log';
import type { RpcClient } from '@runyard/service';
import { unauthenticated } from './credential';
import type { Credential, Presented } from './credential';
import type { KeyCache } from './key-cache';
import type { TokenVerifier } from './token-verifier';

/** Every change of people, keys and orgs, of all orgs. */
const PEOPLE_SUBJECTS = 'runyard.people.>';

/** The gateway asks in its own name: the org is what it wants to learn. */
const GATEWAY: Caller = { org: '', actor: 'system:gateway', userId: null, roles: [] };

/** Finds out who a credential stands for. The org comes from here and from nowhere else. */
export class Authenticator {
  private readonly listeners = new Set<(org: string) => void>();

  constructor(
    private readonly rpc: RpcClient,
    private readonly cache: KeyCache,
    private readonly tokens: TokenVerifier | undefined,
  ) {}

  /** Listens for changes of people, so that a revoked key stops within moments; returns the unsubscriber. */
  watch(log: Pick<EventLog, 'onAppend'>): () => void {
    return log.onAppend(PEOPLE_SUBJECTS, (subject) => {
      const org = parseSubject(subject)?.org;
      if (org === undefined) return;
      this.cache.invalidate(org, Date.now());
      for (const listener of this.listeners) listener(org);
    });
  }

  /** Tells when credentials of an org may have changed, for streams that outlive their request. */
  onChange(listener: (org: string) => void): void {
    this.listeners.add(listener);
  }

  /** True where the answer is at hand; finding it out costs nobody anything. */
  isKnown(credential: Presented): boolean {
    return credential.kind === 'key' && this.cache.get(hashOf(credential.key), Date.now()) !== undefined;
  }

  /** Throws `unauthenticated`, or `unavailable` where the answer cannot be had. */
  async authenticate(credential: Presented): Promise<Credential> {
    if (credential.kind === 'key') return this.authenticateKey(credential.key);
    if (!this.tokens) throw unauthenticated('The credential is no API key, and tokens are not accepted here');
    return this.tokens.verify(credential.token);
  }

  private async authenticateKey(key: string): Promise<Credential> {
    const hash = hashOf(key);
    const askedAt = Date.now();
    const cached = this.cache.get(hash, askedAt);
    if (cached) return cached;
    const found = await this.rpc.call<AuthenticatedKey>('agent-registry', 'keys.authenticate', GATEWAY, {
      hash,
    });
    const credential = credentialOf(found);
    if (credential.expiresAt !== null && credential.expiresAt <= Date.now())
      throw unauthenticated('The API key has expired');
    this.cache.put(hash, credential, askedAt, Date.now());
    return credential;
  }
}

/** The key itself leaves this process in no form but this one. */
const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

function credentialOf(key: AuthenticatedKey): Credential {
  if (!key.org_id) throw new Problem('internal', 'keys.authenticate answered without an org');
  return {
    id: `key:${key.key_id}`,
    caller: {
      org: key.org_id,
      actor: key.user_id === null ? `service:${key.key_id}` : `user:${key.user_id}`,
      userId: key.user_id,
      roles: key.roles,
    },
    expiresAt: key.expires_at === null ? null : Date.parse(key.expires_at),
  };
}
