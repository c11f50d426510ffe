import { setTimeout as wait } from 'node:timers/promises';
import { Api } from './api';
import { audit } from './audit';
import type { AuditReport } from './audit';
import type { LiveTools } from './live';
import { race } from './question';
import type { ApprovalRow, Person, Question } from './question';
import { saidBy } from './script';
import type { Said, Script } from './script';

const LOOK_MS = 50;
/** After the last moment of a question, so that nobody is in time by a hair. */
const LATE_MS = 500;

/** Three people who decide all at once what a script says, so that each question is a race of which one must win. */
export class Reviewers {
  private readonly asked = new Map<string, Question>();
  private readonly deciding: Promise<void>[] = [];
  private stopping = false;
  private looking: Promise<void> = Promise.resolve();

  private constructor(
    private readonly admin: Api,
    private readonly people: readonly Person[],
    private readonly live: LiveTools,
    private readonly script: Script,
  ) {}

  /** Makes them known to the installation, as an admin would. */
  static async start(admin: Api, url: string, live: LiveTools, script: Script): Promise<Reviewers> {
    const people = await Promise.all(['first', 'second', 'third'].map((name) => personOf(admin, url, name)));
    const reviewers = new Reviewers(admin, people, live, script);
    reviewers.looking = reviewers.look();
    return reviewers;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.looking;
    await Promise.all(this.deciding);
  }

  /** Stops, and compares what they did with what the installation has recorded and the tools have seen. */
  async report(): Promise<AuditReport> {
    await this.stop();
    return audit(this.admin, [...this.asked.values()], this.live);
  }

  private async look(): Promise<void> {
    const { api } = this.people[0] ?? { api: this.admin };
    while (!this.stopping) {
      const { data } = await api.patiently(() =>
        api.call<{ data: ApprovalRow[] }>('GET', '/v1/approvals?limit=200'),
      );
      for (const row of data) if (!this.asked.has(row.approval_id)) this.answer(row);
      await wait(LOOK_MS);
    }
  }

  private answer(row: ApprovalRow): void {
    const question: Question = { row, dialog: '', part: 'approve', told: [], won: undefined };
    this.asked.set(row.approval_id, question);
    this.deciding.push(this.play(question));
  }

  private async play(question: Question): Promise<void> {
    const { kind, run_id, call_id, tool, arguments: args, expires_at } = question.row;
    const text = args.text ?? '{}';
    question.dialog = await this.live.dialogOf(run_id);
    if (kind === 'ambiguous') {
      const said = whatHappened(this.live.answerTo(`${run_id}:${call_id}`));
      return race(this.people, question, [said, said, said]);
    }
    question.part = this.script.partFor(question.dialog, tool, text);
    if (question.part === 'expire') await wait(Math.max(0, Date.parse(expires_at) - Date.now()) + LATE_MS);
    await race(this.people, question, saidBy(question.part, text));
  }
}

/** Who looks at the airline knows whether a call arrived before its executor died. */
const whatHappened = (answer: string | undefined): Said =>
  answer === undefined ? { verdict: 'repeat' } : { verdict: 'done', message: answer };

async function personOf(admin: Api, url: string, name: string): Promise<Person> {
  const roles = ['reviewer'];
  const user = { email: `${name}@example.org`, name, roles };
  const { user_id } = await admin.call<{ user_id: string }>('POST', '/v1/users', user);
  const { key } = await admin.call<{ key: string }>('POST', '/v1/keys', { label: name, roles, user_id });
  return { actor: `user:${user_id}`, api: new Api(url, key) };
}
