import type { FailureReason } from './index';
import { OUTCOMES, RUN_STATES, TERMINATIONS, UNFINISHED_STATES, terminationOf } from './index';

/** Section 4 of the domain: state, termination, reason, status in the dialog runner's words. */
const TABLE = `
succeeded Completed           -                     completed
failed    BudgetExceeded      iteration_cap         budget_exhausted
failed    BudgetExceeded      tool_call_cap         budget_exhausted
failed    BudgetExceeded      token_budget          budget_exhausted
failed    BudgetExceeded      weekly_budget         spend_limit_exceeded
failed    Deadline            deadline              budget_exhausted
failed    Deadline            pause_expired         budget_exhausted
failed    ConfirmationPending confirmation_required error
failed    ConfirmationPending approval_expired      error
failed    ToolFailure         tool_failure          error
failed    ToolFailure         unknown_effect        error
failed    Refused             model_refused         error
failed    Refused             content_filtered      error
failed    Error               error                 error
failed    Error               stale                 error
failed    Error               provider_auth         error
failed    Error               provider_unavailable  error
failed    Error               provider_invalid      error
failed    Error               definition_invalid    error
cancelled Cancelled           user                  cancelled
cancelled Cancelled           parent                cancelled
cancelled Cancelled           replaced              cancelled
cancelled Cancelled           agent_stopped         cancelled
skipped   -                   budget_exceeded       skipped
skipped   -                   already_running       skipped`;

const expected = TABLE.trim()
  .split('\n')
  .map((line) => line.split(/\s+/).map((cell) => (cell === '-' ? null : cell)));

describe('the outcomes of a run', () => {
  it('are exactly the table of the domain', () => {
    expect(
      OUTCOMES.map(({ state, termination, reason, status }) => [state, termination, reason, status]),
    ).toEqual(expected);
  });

  it('cover every terminal state and every termination', () => {
    const unfinished: readonly string[] = UNFINISHED_STATES;
    expect(new Set(OUTCOMES.map((outcome) => outcome.state))).toEqual(
      new Set(RUN_STATES.filter((state) => !unfinished.includes(state))),
    );
    expect(new Set(OUTCOMES.flatMap((outcome) => outcome.termination ?? []))).toEqual(new Set(TERMINATIONS));
  });

  it('give each failure’s reason one termination', () => {
    for (const { state, reason, termination } of OUTCOMES)
      if (state === 'failed') expect(terminationOf(reason as FailureReason)).toBe(termination);
  });
});
