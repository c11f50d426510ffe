import { RateLimiter, rateHeaders } from './rate-limit';

const policy = { quota: 3, windowSeconds: 6 };

describe('the rate limiter', () => {
  test('grants the quota at once and refills it evenly', () => {
    const limiter = new RateLimiter(policy);
    expect([0, 0, 0, 0].map((now) => limiter.take('a', now).allowed)).toEqual([true, true, true, false]);
    expect(limiter.take('a', 1_000)).toEqual({
      allowed: false,
      remaining: 0,
      resetSeconds: 5,
      retrySeconds: 1,
    });
    expect(limiter.take('a', 2_000).allowed).toBe(true);
    expect(limiter.take('a', 60_000)).toMatchObject({ allowed: true, remaining: 2 });
  });

  test('counts each key by itself', () => {
    const limiter = new RateLimiter(policy);
    for (let n = 0; n < 3; n++) limiter.take('a', 0);
    expect([limiter.take('a', 0).allowed, limiter.take('b', 0).allowed]).toEqual([false, true]);
  });

  test('looking takes nothing, and a clock that goes back gives nothing', () => {
    const limiter = new RateLimiter(policy);
    expect(limiter.peek('a', 0).remaining).toBe(3);
    for (let n = 0; n < 3; n++) limiter.take('a', 10_000);
    expect(limiter.take('a', 5_000).allowed).toBe(false);
  });

  test('forgets the one that was quiet longest when there are too many', () => {
    const limiter = new RateLimiter(policy, 2);
    for (let n = 0; n < 3; n++) limiter.take('a', 0);
    limiter.take('b', 0);
    limiter.take('a', 0);
    limiter.take('c', 0);
    expect(limiter.take('a', 0).allowed).toBe(false);
  });

  test('says it in headers of the draft and of its predecessor', () => {
    expect(rateHeaders(policy, { allowed: true, remaining: 2, resetSeconds: 4, retrySeconds: 0 })).toEqual({
      'ratelimit-policy': '"default";q=3;w=6',
      ratelimit: '"default";r=2;t=4',
      'ratelimit-limit': '3',
      'ratelimit-remaining': '2',
      'ratelimit-reset': '4',
    });
  });
});
