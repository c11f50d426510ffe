export { decodeCommit, decodeEvents, type DecodedEvents, type KnownEvents } from './commit';
export { connectEventLog, type ConnectOptions, type EventLogConnection } from './connect';
export type { DeadLetter } from './dead-letter';
export { deadLetters, type DeadLetters } from './dead-letters';
export type { Decided, Decider } from './decider';
export { approvalIdOf, canonicalJson, derivedId, digestOf, runIdOf } from './digest';
export { OverlappingConsumer, delayAfter } from './durable';
export { fold, foldCache, load, type Aggregate, type FoldCache, type Folded } from './fold';
export { UnknownEvent, handle, handleTogether, type DecidedBy, type Handled } from './handle';
export { ask, connectedFor, type Asked, type NatsConnection, type Subscription } from './messaging';
export { Mailbox, type Settled } from './mailbox';
export type { Pace } from './pacing';
export { formatPosition, parsePosition, type Position } from './position';
export * from './queue';
export { MINIMUM_SERVER, UnreliableServer, checkServer } from './server';
export { JointReads } from './joint-reads';
export { JointTails } from './joint-tails';
export { streamSource, type StreamSource } from './source';
export { applyStreams, differences, verifyStreams, type StreamDefinition } from './streams';
export * from './types';
export {
  streamOperations,
  type ConsumerReport,
  type StreamOperations,
  type StreamReport,
} from './stream-operations';
export { RestoreRefused, restoreStream, type ArchivedCommit, type Restored } from './restore';
