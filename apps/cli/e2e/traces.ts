import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { World } from './world';

/** A text that stands nowhere else. */
export const marker = (): string => `plaintext-${randomUUID()}`;

/** Too large for an event: it lies in the blobs. */
export const large = (text: string): string => `${text} ${'and so on '.repeat(12_000)}`;

/** Where texts are found: in files of the log's server and in tables. */
export class Traces {
  constructor(private readonly world: World) {}

  /** Streams whose files hold a text. */
  inLog(text: string): string[] {
    return readdirSync(this.logFolder(), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.blk'))
      .map((entry) => join(entry.parentPath, entry.name))
      .filter((file) => readFileSync(file).includes(text))
      .map((file) => /streams\/(\w+)\//.exec(file)?.[1] ?? file);
  }

  /** Tables in which a text is found, wherever it stands in a row. */
  async inTables(text: string): Promise<string[]> {
    const { rows } = await this.world.owner.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1`,
    );
    const found: string[] = [];
    for (const { name } of rows)
      if (
        await this.world.value<boolean>(`SELECT EXISTS (SELECT FROM ${name} t WHERE t::text LIKE $1)`, [
          `%${text}%`,
        ])
      )
        found.push(name);
    return found;
  }

  async of(text: string): Promise<string[]> {
    return [...(await this.inTables(text)), ...this.inLog(text)];
  }

  /** Rows are what stream and archive say: nothing would come back. */
  async areProven(): Promise<void> {
    for (const from of ['stream', 'archive']) {
      const { code, out, said } = await this.world.runyard('verify', '--from', from);
      const different = out.filter((line) => !line.includes('equal'));
      expect([from, code, different, code === 0 ? '' : said]).toEqual([from, 0, [], '']);
    }
  }

  /** Where the log's server keeps its files, by its own command line. */
  logFolder(): string {
    const args = readFileSync(`/proc/${this.world.nats.pid}/cmdline`, 'utf8').split('\0');
    const config = readFileSync(args[args.indexOf('-c') + 1] ?? '', 'utf8');
    return /store_dir:?\s*"?([^"\s]+)/.exec(config)?.[1] ?? '';
  }
}
