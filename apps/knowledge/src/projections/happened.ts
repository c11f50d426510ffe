/** An event with the place of its aggregate; `id` is the document's or group's own. Time is RFC 3339. */
export interface Happened<E> {
  org: string;
  id: string;
  event: E;
  time: string;
  position: string;
}
