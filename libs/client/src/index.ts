export { Runyard, type Answered } from './client';
export { NoAnswer, Refused, type FieldFault } from './failures';
export { Listing, type Page } from './listing';
export type * from './operations';
export type { Answer, Body, Input, Query, Route } from './route-call';
export type { RunStreamEvent, StreamOptions } from './run-stream';
export type { CallOptions, ClientOptions } from './transport';
