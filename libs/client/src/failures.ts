import type { Problem } from './operations';

/** A field that was refused. */
export interface FieldFault {
  /** JSON Pointer to the field. */
  pointer: string;
  detail: string;
}

/**
 * The API has refused, with a problem document (RFC 9457). Decide by `code`, not by words; `docs/problems.md` lists the codes.
 * An answer that is no problem document (a proxy's) has the code `unknown`.
 */
export class Refused extends Error {
  readonly code: Problem['code'] | 'unknown';
  readonly detail: string;
  /** Finds the request in the operator's logs. */
  readonly requestId: string | null;
  /** True where the same request may succeed later. */
  readonly retryable: boolean;
  readonly errors: readonly FieldFault[];

  constructor(
    readonly status: number,
    /** The whole document, with the facts of this problem as further members. */
    readonly problem: Readonly<Record<string, unknown>>,
  ) {
    const { code, detail, request_id, retryable, errors } = problem as Partial<Problem>;
    super(`${code ?? status}: ${detail ?? 'the answer is no problem document'}`);
    this.name = 'Refused';
    this.code = code ?? 'unknown';
    this.detail = detail ?? '';
    this.requestId = request_id ?? null;
    this.retryable = retryable ?? [502, 503, 504].includes(status);
    this.errors = errors ?? [];
  }
}

/** No answer: the connection failed or was cut, or the time for the call had passed. Whether it was handled is not known. */
export class NoAnswer extends Error {
  constructor(what: string, cause: unknown) {
    super(what, { cause });
    this.name = 'NoAnswer';
  }
}

/** Reads a refusal. */
export async function refusalOf(response: Response): Promise<Refused> {
  const text = await response.text().catch(() => '');
  return new Refused(response.status, parsed(text));
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
