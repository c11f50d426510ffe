/** A rule of the deployment forbids the request; nothing was sent to that place. */
export class Forbidden extends Error {}

/** Name not resolved, connection refused, TLS failed: the request was provably not sent (P4.1). */
export class BeforeSending extends Error {}

/** The connection stood, so the request may have been read and carried out. */
export class AfterSending extends Error {}
