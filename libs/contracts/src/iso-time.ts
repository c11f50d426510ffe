/** An instant, epoch milliseconds, as answers and rows write it: RFC 3339 in UTC. */
export const isoTime = (at: number): string => new Date(at).toISOString();
