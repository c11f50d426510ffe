/**
 * Users leave by one projection while another one makes stubs of owners: each sees only what the other has committed, so
 * that without an order between them a stub could be made of somebody who has just gone. Locks of the transaction, per
 * schema, so that a rebuild beside the live rows stands in nobody's way.
 */
const KEY = "hashtext(current_schema() || '.departures')";

/** Before stubs are made: any number at once, none while somebody leaves. */
export const BESIDE_DEPARTURES = `SELECT pg_advisory_xact_lock_shared(${KEY})`;

/** Before users are deleted. */
export const ALONE_WITH_DEPARTURES = `SELECT pg_advisory_xact_lock(${KEY})`;
