/** What makes an idempotency key one: two callers, or two routes, may use the same text. */
export interface KeyScope {
  org: string;
  caller: string;
  route: string;
  key: string;
}

/** An answer as it is replayed. */
export interface KeptAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  /** True for a refusal: `body` then holds code, message and facts of the Problem. */
  problem: boolean;
}

export type Taken =
  | { state: 'taken' }
  | { state: 'in_progress' }
  | { state: 'other_request' }
  | { state: 'answered'; answer: KeptAnswer };

/** Where answers to repeated requests are kept. */
export interface AnswerStore {
  /** Takes the key for this request, or says who has it. */
  take(scope: KeyScope, fingerprint: string): Promise<Taken>;
  /** Keeps the first answer to this request; nothing where another one has the key by now. */
  keep(scope: KeyScope, fingerprint: string, answer: KeptAnswer): Promise<void>;
  /** Gives the key back, as if it had never been used; nothing where another request has it by now. */
  release(scope: KeyScope, fingerprint: string): Promise<void>;
}
