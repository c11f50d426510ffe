import type { Msg } from '@nats-io/transport-node';
import { parseDelivery } from './pull';

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
