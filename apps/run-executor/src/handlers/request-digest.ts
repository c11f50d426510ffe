import type { RunRequest } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';

/** What makes two requests the same; who asks and the key itself do not belong to it. */
export function requestDigest({ key: _key, requested_by: _by, ...body }: RunRequest): string {
  return digestOf(JSON.parse(JSON.stringify(body)));
}
