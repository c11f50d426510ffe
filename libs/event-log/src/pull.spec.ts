import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { parseDelivery, Pull } from './pull';

const from = (reply?: string) => parseDelivery({ reply } as Msg);

describe('where a delivered message stands', () => {
  it('is read from the reply subject, with and without domain', () => {
    const expected = { attempt: 2, sequence: 41, deliverySequence: 7, storedAt: 1_764_500_000_123 };
    expect(from('$JS.ACK.RUNS.tail.2.41.7.1764500000123456789.5')).toMatchObject(expected);
    expect(from('$JS.ACK._.hash.RUNS.tail.2.41.7.1764500000123456789.5')).toMatchObject(expected);
    expect(from('$JS.ACK.hub.hash.RUNS.tail.2.41.7.1764500000123456789.5.token')).toMatchObject(expected);
  });

  it.each([undefined, '', '_INBOX.x.1', '$JS.API.INFO', '$JS.ACK.RUNS.tail'])(
    'is unknown for %j',
    (reply) => {
      expect(from(reply)).toBeUndefined();
    },
  );
});

it('is in trouble, and throws nothing, where the connection takes no more questions', () => {
  const draining = {
    subscribe: () => ({ unsubscribe: () => undefined }),
    publish: () => {
      throw new Error('connection draining');
    },
  } as unknown as NatsConnection;
  const heard: string[] = [];
  const handlers = { deliver: () => undefined, expired: () => undefined };
  const pull = new Pull(draining, 'RUNS', 'tail', { ...handlers, trouble: (why) => void heard.push(why) });
  pull.request(1);
  expect([heard, pull.outstanding]).toEqual([['connection draining'], 0]);
  pull.close();
});
