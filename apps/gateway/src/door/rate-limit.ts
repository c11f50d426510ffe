/** So many requests in so many seconds, on average; as many at once after a pause. */
export interface RatePolicy {
  quota: number;
  windowSeconds: number;
}

export interface RateAnswer {
  allowed: boolean;
  /** Requests that may follow at once. */
  remaining: number;
  /** Seconds until the bucket is full again. */
  resetSeconds: number;
  /** Seconds until the next request is allowed; 0 when it is now. */
  retrySeconds: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Token buckets in memory, one a credential. A gateway of several processes grants each its own share of the requests
 * it sees; the limit protects the platform, it is no accounting.
 */
export class RateLimiter {
  private readonly buckets = new Map<string, Bucket>();

  constructor(
    readonly policy: RatePolicy,
    private readonly maxBuckets = 50_000,
  ) {}

  /** Takes one request's token. `now` in milliseconds of any steady clock. */
  take(key: string, now: number): RateAnswer {
    const bucket = this.refilled(key, now);
    const allowed = bucket.tokens >= 1;
    if (allowed) bucket.tokens -= 1;
    this.keep(key, bucket);
    return this.answer(bucket, allowed);
  }

  /** What {@link take} would say, without taking. */
  peek(key: string, now: number): RateAnswer {
    const bucket = this.refilled(key, now);
    return this.answer(bucket, bucket.tokens >= 1);
  }

  private refilled(key: string, now: number): Bucket {
    const { quota, windowSeconds } = this.policy;
    const bucket = this.buckets.get(key);
    if (!bucket) return { tokens: quota, at: now };
    const gained = (Math.max(0, now - bucket.at) / 1000) * (quota / windowSeconds);
    return { tokens: Math.min(quota, bucket.tokens + gained), at: now };
  }

  /** Least recently used first in the map; the oldest goes when there are too many, which only forgives its debt. */
  private keep(key: string, bucket: Bucket): void {
    this.buckets.delete(key);
    this.buckets.set(key, bucket);
    if (this.buckets.size <= this.maxBuckets) return;
    const oldest = this.buckets.keys().next().value;
    if (oldest !== undefined) this.buckets.delete(oldest);
  }

  private answer(bucket: Bucket, allowed: boolean): RateAnswer {
    const { quota, windowSeconds } = this.policy;
    const perSecond = quota / windowSeconds;
    return {
      allowed,
      remaining: Math.floor(bucket.tokens),
      resetSeconds: Math.ceil((quota - bucket.tokens) / perSecond),
      retrySeconds: bucket.tokens >= 1 ? 0 : Math.ceil((1 - bucket.tokens) / perSecond),
    };
  }
}

/** Headers of the current draft, and of the older one that clients in the field read. */
export function rateHeaders(policy: RatePolicy, answer: RateAnswer): Record<string, string> {
  return {
    'ratelimit-policy': `"default";q=${policy.quota};w=${policy.windowSeconds}`,
    ratelimit: `"default";r=${answer.remaining};t=${answer.resetSeconds}`,
    'ratelimit-limit': String(policy.quota),
    'ratelimit-remaining': String(answer.remaining),
    'ratelimit-reset': String(answer.resetSeconds),
  };
}
