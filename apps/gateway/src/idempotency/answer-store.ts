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
  keep(scope: KeyScope, answer: KeptAnswer): Promise<void>;
  /** Gives the key back, as if it had never been used. */
  release(scope: KeyScope): Promise<void>;
}
