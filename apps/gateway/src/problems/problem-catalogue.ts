import type { ProblemCode } from '@runyard/contracts';

/** What a problem means and what its reader can do about it: the text behind each `type` URL. */
export interface ProblemEntry {
  title: string;
  /** True where sending the same request again, later, can succeed. */
  retryable: boolean;
  meaning: string;
  remedy: string;
}

const refused = (title: string, meaning: string, remedy: string): ProblemEntry => ({
  title,
  retryable: false,
  meaning,
  remedy,
});
const later = (title: string, meaning: string, remedy: string): ProblemEntry => ({
  title,
  retryable: true,
  meaning,
  remedy,
});

/** Every problem code with its explanation; `docs/problems.md` and `GET /v1/problems/{code}` are made of it. */
export const PROBLEM_CATALOGUE: Readonly<Record<ProblemCode, ProblemEntry>> = {
  invalid_request: refused(
    'The request is not valid',
    'A field, parameter or header is missing, unknown, of the wrong type or out of range.',
    'Correct what `errors` lists; each entry points at one field and says what it must be.',
  ),
  malformed_json: refused(
    'The body is not JSON',
    'The body could not be read as JSON.',
    'Send one JSON value in UTF-8.',
  ),
  invalid_cursor: refused(
    'The cursor is not one of ours',
    'The cursor was cut, changed or made up.',
    'Use a cursor as an answer gave it, or start without one.',
  ),
  unauthenticated: refused(
    'A valid credential is missing',
    'The request carries no credential, or one that is malformed, unknown, revoked or expired.',
    'Send `Authorization: Bearer <key or token>` or `X-API-Key: <key>`. Keys are never read from the URL.',
  ),
  forbidden: refused(
    'The credential may not do this',
    'The caller is known, but lacks the role or the ownership that this needs.',
    '`detail` says what was missing; ask an admin of the organization for it.',
  ),
  not_found: refused(
    'There is no such thing',
    'Nothing with this id exists in the organization of the credential.',
    'Check the path and the id.',
  ),
  method_not_allowed: refused(
    'The method is not offered here',
    'The path exists, but not with this method.',
    'Use one of the methods in the `Allow` header.',
  ),
  conflict: refused(
    'The request contradicts the present state',
    'What was asked for does not fit the state in which the target is now.',
    'Read the target again and decide anew.',
  ),
  idempotency_key_reused: refused(
    'The key already names another run',
    'A run with this idempotency key exists and was started with another body. The key names its run for ever.',
    'Use a new key for a new run, or send the body of the first request.',
  ),
  request_in_progress: later(
    'The same request is still being handled',
    'A request with this idempotency key has not been answered yet.',
    'Repeat it after `Retry-After` seconds; the first answer is replayed.',
  ),
  conversation_busy: later(
    'The conversation has an unfinished run',
    'At most one run of a conversation is unfinished at any time.',
    'Wait for that run to end, or cancel it.',
  ),
  already_exists: refused(
    'The id is taken',
    'Something with this id exists already.',
    'Choose another id, or change what exists.',
  ),
  agent_disabled: refused(
    'The agent is switched off',
    'Its owner has switched the agent off.',
    'Its owner can switch it on.',
  ),
  agent_locked: refused('The agent is locked', 'An admin has locked the agent.', 'An admin can unlock it.'),
  agent_without_model: refused(
    'The agent has no model',
    'No model was chosen, or the chosen one was removed from the allowed list.',
    'The owner chooses a model out of `GET /v1/models`.',
  ),
  owner_inactive: refused(
    "The agent's owner is not active",
    'The owner of the agent was deactivated.',
    'An admin can reactivate the owner.',
  ),
  run_not_controllable: refused(
    'The run cannot be controlled this way now',
    'The control makes no sense in the state of the run, for example because it has ended.',
    'Read the run; `detail` names its state.',
  ),
  approval_decided: refused(
    'Somebody has decided already',
    'The approval was decided before; `verdict`, `decided_by` and `decided_at` are the first decision, which stands.',
    'Nothing is to be done; read the approval to see what became of it.',
  ),
  approval_expired: refused(
    'Nobody decided in time',
    'The approval expired and the call was not made. An expiry is no denial: nobody said no.',
    'Start the work again, or raise the time that approvals are given.',
  ),
  approval_withdrawn: refused(
    'The run no longer asks',
    'The run ended, or its call went another way, before anybody decided.',
    'Nothing is to be done; the call was not made because of this decision.',
  ),
  rule_outranks_deny: refused(
    'The rule would go against one that denies',
    'A standing rule, named in `rule_id`, denies such calls; an approval makes no rule that outranks it.',
    'Approve this call alone, or have an admin change the rule that denies.',
  ),
  task_locked: refused(
    'Somebody else holds the task',
    'A live lock on the task belongs to another holder; `holder` and `expires_at` say whose it is and until when.',
    'Wait until it is released or expires, or ask its holder. An admin may take it with `steal`.',
  ),
  task_lock_lost: refused(
    'The lock does not hold',
    'The `fence` of the edit is not that of a live lock of the caller: it expired, was released or was superseded. `holder` says who has the task now.',
    'Acquire the lock, read the task again and repeat the edit with the new `fence` if it is still wanted.',
  ),
  task_blocked: refused(
    'The task waits for what will not come',
    'A task that it depends on was cancelled or deleted, so that it can never be completed.',
    'Take the tasks listed in `dependencies` out of `blocked_by`, or start them again.',
  ),
  task_running: refused(
    'The task is being worked on',
    'A run of the task is under way; what it was told cannot be changed now.',
    'Stop the task first, or wait for its end.',
  ),
  cursor_expired: refused(
    'The events after this cursor are gone',
    'The event log was restored or cut, or the cursor lies beyond its end.',
    'Read the run as it is now and stream from the beginning.',
  ),
  version_mismatch: refused(
    'It was changed in the meantime',
    '`If-Match` names a version that is no longer the newest.',
    'Read it again, apply the change to what you find and send its new `ETag`.',
  ),
  payload_too_large: refused(
    'The body is too large',
    'The body is over the limit of the server.',
    'Send less.',
  ),
  unsupported_media_type: refused(
    'The body has the wrong type',
    'Bodies are read as `application/json` only.',
    'Send JSON and say so in `Content-Type`.',
  ),
  idempotency_key_mismatch: refused(
    'The key belongs to another request',
    'This idempotency key was used in the last 24 hours with another body.',
    'Use a new key for a new request.',
  ),
  rate_limited: later(
    'Too many requests',
    'The credential has used up its rate.',
    'Wait `Retry-After` seconds.',
  ),
  internal: refused(
    'Something went wrong on our side',
    'A defect. It was logged under `request_id`.',
    'Report the `request_id` to your operator.',
  ),
  unavailable: later(
    'The service does not answer',
    'A part of the platform does not answer at the moment.',
    'Repeat the request after `Retry-After` seconds.',
  ),
};
