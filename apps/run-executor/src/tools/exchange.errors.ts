/** What can become of a request to a tool, in kinds that say whether it may have been carried out. */
export class ExchangeError extends Error {}

/** A rule of the deployment forbids the request; nothing was sent to that place. */
export class Forbidden extends ExchangeError {}

/** Name not resolved, connection refused, TLS failed: the request was provably not sent (P4.1). */
export class BeforeSending extends ExchangeError {}

/** The connection stood, so the request may have been read and carried out. */
export class AfterSending extends ExchangeError {}

/** The other side answered that it will not or cannot; nothing is uncertain. The message is for the model. */
export class Answered extends ExchangeError {
  constructor(
    message: string,
    readonly transient: boolean,
  ) {
    super(message);
  }
}

/** The answer was larger than may be read. */
export class AnswerTooLarge extends ExchangeError {
  constructor(readonly limitBytes: number) {
    super(`answer of more than ${limitBytes} bytes`);
  }
}

/** The definition cannot be carried out in this deployment. The message says what must change. */
export class Misconfigured extends ExchangeError {}
