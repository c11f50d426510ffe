import type { Call } from '../door/call';

export const EVENT_STREAM = 'text/event-stream';

export const acceptsStream = (call: Call): boolean =>
  call.headers.accept?.toLowerCase().includes(EVENT_STREAM) === true;

export const wantsStream = (call: Call): boolean => call.method === 'GET' && acceptsStream(call);

/** A buffer of a proxy would hold events back; SSE must not be cached or changed on its way. */
export const STREAM_HEADERS = { 'cache-control': 'no-cache, no-transform', 'x-accel-buffering': 'no' };
