/** Token of the one clock of this service: `() => number`, epoch ms. */
export const LEDGER_CLOCK = Symbol('LEDGER_CLOCK');
