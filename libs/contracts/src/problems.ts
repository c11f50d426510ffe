/** Codes of refusals and failures, each with the HTTP status it has at the edge. The code is the stable part. */
export const PROBLEMS = {
  invalid_request: 400,
  malformed_json: 400,
  invalid_cursor: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  idempotency_key_reused: 409,
  request_in_progress: 409,
  conversation_busy: 409,
  already_exists: 409,
  agent_disabled: 409,
  agent_locked: 409,
  agent_without_model: 409,
  owner_inactive: 409,
  run_not_controllable: 409,
  approval_decided: 409,
  approval_expired: 409,
  approval_withdrawn: 409,
  rule_outranks_deny: 409,
  task_locked: 409,
  task_lock_lost: 409,
  task_blocked: 409,
  task_running: 409,
  cursor_expired: 410,
  version_mismatch: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  idempotency_key_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ProblemCode = keyof typeof PROBLEMS;

export interface FieldError {
  /** JSON Pointer to the offending field. */
  pointer: string;
  detail: string;
}

/**
 * A refusal that says what to do. Facts are fields; `message` is for people. The HTTP status appears only at the edge
 * ({@link PROBLEMS}).
 */
export class Problem extends Error {
  constructor(
    readonly code: ProblemCode,
    message: string,
    readonly facts: { errors?: FieldError[]; retryAfterSeconds?: number; [key: string]: unknown } = {},
  ) {
    super(message);
    this.name = 'Problem';
  }
}
