/** Token of the one clock of this service: `() => number`, epoch ms. */
export const APPROVALS_CLOCK = Symbol('APPROVALS_CLOCK');
