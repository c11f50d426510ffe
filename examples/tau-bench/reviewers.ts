import { setTimeout as wait } from 'node:timers/promises';
import { WRITES } from '../airline/tools';
import { Api, Refused } from './api';

const LOOK_MS = 50;

interface Pending {
  approval_id: string;
  run_id: string;
  call_id: string;
  tool: string;
  arguments: { text?: string };
}

/** A call that the tools have carried out; its key is `<run id>:<call id>`. */
export interface CarriedOut {
  key: string;
  tool: string;
  arguments: object;
}

/** Two people who approve whatever is asked, both at once, so that each question is a race of which one must win. */
export class Reviewers {
  private readonly asked = new Map<string, Pending>();
  private readonly deciding: Promise<void>[] = [];
  private readonly odd: string[] = [];
  private stopping = false;
  private looking: Promise<void> = Promise.resolve();
  private decided = 0;

  private constructor(private readonly people: readonly Api[]) {}

  /** Makes them known to the installation, as an admin would. */
  static async start(admin: Api, url: string): Promise<Reviewers> {
    const people = await Promise.all(['first', 'second'].map((name) => personOf(admin, url, name)));
    const reviewers = new Reviewers(people);
    reviewers.looking = reviewers.look();
    return reviewers;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.looking;
    await Promise.all(this.deciding);
  }

  /** Whether every question had one winner, and every write went out once, under its own approval, with what was approved. */
  summary(carriedOut: readonly CarriedOut[]): { good: boolean; text: string } {
    const writes = carriedOut.filter(({ tool }) => WRITES.test(tool));
    const approved = new Map([...this.asked.values()].map((one) => [`${one.run_id}:${one.call_id}`, one]));
    const without = writes.filter(({ key, tool, arguments: given }) => {
      const approval = approved.get(key);
      return approval?.tool !== tool || JSON.stringify(given) !== normal(approval.arguments.text);
    });
    const text = `approvals: asked ${this.asked.size} decided once ${this.decided} odd ${this.odd.length}; writes ${writes.length} without their own approval ${without.length}`;
    for (const line of this.odd.slice(0, 5)) console.error(line);
    const all = this.decided === this.asked.size && writes.length === this.asked.size;
    return { good: all && this.odd.length === 0 && without.length === 0, text };
  }

  private async look(): Promise<void> {
    const [first] = this.people;
    while (first && !this.stopping) {
      const { data } = await first.patiently(() =>
        first.call<{ data: Pending[] }>('GET', '/v1/approvals?limit=200'),
      );
      for (const pending of data) {
        if (this.asked.has(pending.approval_id)) continue;
        this.asked.set(pending.approval_id, pending);
        this.deciding.push(this.race(pending.approval_id));
      }
      await wait(LOOK_MS);
    }
  }

  private async race(id: string): Promise<void> {
    const outcomes = await Promise.all(this.people.map((person) => decide(person, id)));
    const winners = outcomes.filter((outcome) => outcome === 'won').length;
    if (winners === 1 && outcomes.includes('approval_decided')) this.decided += 1;
    else this.odd.push(`${id}: ${outcomes.join(', ')}`);
  }
}

/** A number may have been written another way by the model than by the tool that reads it. */
const normal = (text: string | undefined): string =>
  text === undefined ? '' : JSON.stringify(JSON.parse(text));

async function decide(person: Api, id: string): Promise<string> {
  const path = `/v1/approvals/${id}/decision`;
  try {
    await person.patiently(() => person.call('POST', path, { verdict: 'approve' }));
    return 'won';
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return (JSON.parse(error.body) as { code: string }).code;
  }
}

async function personOf(admin: Api, url: string, name: string): Promise<Api> {
  const roles = ['reviewer'];
  const user = { email: `${name}@example.org`, name, roles };
  const { user_id } = await admin.call<{ user_id: string }>('POST', '/v1/users', user);
  const { key } = await admin.call<{ key: string }>('POST', '/v1/keys', { label: name, roles, user_id });
  return new Api(url, key);
}
