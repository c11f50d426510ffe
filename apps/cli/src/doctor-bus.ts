import type { EventLogConnection } from '@runyard/event-log';
import type { Finding } from './doctor';

/** Clocks that differ by more make leases and the order of times hard to read. */
export const CLOCK_MS = 2_000;
export const KEEP_TIME = 'Keep the clocks of all machines by NTP';

const LOOPBACK = /^(127\.|\[?::1\]?(:|$)|localhost)/;

/** The clock of the bus, and whether it asks who is there. */
export async function bus({ connection }: EventLogConnection, url: string): Promise<Finding[]> {
  const asked = Date.now();
  const answer = await connection.request('$JS.API.STREAM.INFO.RUNS');
  const { ts } = answer.json<{ ts?: string }>();
  // Between question and answer; half of the way there.
  const here = (asked + Date.now()) / 2;
  const apart = ts === undefined ? 0 : Math.abs(Date.parse(ts) - here);
  const clock: Finding = {
    what: 'clock of the bus',
    found: ts === undefined ? 'not told' : `${Math.round(apart)} ms from this machine's`,
    ...(apart > CLOCK_MS && { remedy: KEEP_TIME }),
  };
  return [clock, users(connection.info?.auth_required === true, new URL(url).host)];
}

function users(asksWhoIsThere: boolean, host: string): Finding {
  const what = 'users of the bus';
  if (asksWhoIsThere)
    return { what, found: 'it asks for a login; what each may do stands in deploy/nats/access.ts' };
  if (LOOPBACK.test(host)) return { what, found: 'none, on the loopback address of this machine' };
  const remedy =
    'Start it with the users of deploy/docker/nats.conf, so that each service may do its own things alone';
  return { what, found: 'everybody who reaches it may do everything', remedy };
}
