// Turns of recorded models that several specs of the command line play.

/** A turn that answers whatever a user says. */
export const answers = (text: string, more: object = {}): object => ({
  expect: [{ role: 'user', any: true }],
  text,
  usage: { input: 10, output: 5 },
  ...more,
});

export const QUICK = [answers('done at once')];
/** So late that what is done to its run comes first. */
export const SLOW = [answers('late', { delay_ms: 120_000 })];
