import type { Api } from './api';
import { Refused } from './api';
import type { Part, Said } from './script';

/** An approval as the API lists it, as far as the reviewers and their audit read it. */
export interface ApprovalRow {
  approval_id: string;
  kind: 'call' | 'ambiguous';
  state: string;
  run_id: string;
  call_id: string;
  tool: string;
  arguments: { text?: string };
  expires_at: string;
  decided_at: string | null;
  decided_by: string | null;
  verdict: string | null;
  edited_arguments: { text?: string } | null;
}

/** One of the people who decide. */
export interface Person {
  actor: string;
  api: Api;
}

/** A question that the reviewers have seen, what they did about it, and what they were told. */
export interface Question {
  row: ApprovalRow;
  dialog: string;
  part: Part;
  /** `won`, or the code of the refusal; one for each of the people. */
  told: string[];
  /** The decision that won, and whose it was; undefined: none did. */
  won: { by: string; said: Said } | undefined;
}

/** All people decide at once; who of them won. */
export async function race(
  people: readonly Person[],
  question: Question,
  said: readonly Said[],
): Promise<void> {
  const path = `/v1/approvals/${question.row.approval_id}/decision`;
  question.told = await Promise.all(people.map(({ api }, index) => decide(api, path, said[index])));
  const winner = question.told.indexOf('won');
  const [by, what] = [people[winner]?.actor, said[winner]];
  if (by !== undefined && what) question.won = { by, said: what };
}

async function decide(api: Api, path: string, said: Said | undefined): Promise<string> {
  try {
    await api.patiently(() => api.call('POST', path, said));
    return 'won';
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return (JSON.parse(error.body) as { code: string }).code;
  }
}

/** Whether what the people were told agrees with itself: one won and the others heard of it, or all came too late. */
export function isFair({ told }: Question): boolean {
  const winners = told.filter((word) => word === 'won').length;
  const others = told.filter((word) => word !== 'won');
  if (winners === 1) return others.every((word) => word === 'approval_decided');
  return winners === 0 && (alike(others, 'approval_expired') || alike(others, 'approval_withdrawn'));
}

const alike = (words: readonly string[], word: string): boolean => words.every((one) => one === word);

/** Whether the call was let through as it was asked, or said to be as it is. */
export const isUntouched = ({ won }: Question): boolean =>
  won !== undefined && won.said.verdict !== 'deny' && won.said.arguments === undefined;
