/** The arguments make no sense to the tool; the message goes to the model and says what to do. */
export class UserError extends Error {}
