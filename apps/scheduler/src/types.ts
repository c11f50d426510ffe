/** Token of the one clock of this service: `() => number`, epoch ms. */
export const SCHEDULER_CLOCK = Symbol('SCHEDULER_CLOCK');
