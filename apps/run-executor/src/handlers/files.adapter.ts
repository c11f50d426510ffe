import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** One path segment: nothing that could leave the folder. */
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,119}$/;

/**
 * Secrets as files, `<folder>/<org id>/<name>`: the form in which container platforms mount them. An org reaches its own
 * only. Read at each use, so that a rotated secret counts at once.
 */
export class SecretFiles {
  constructor(private readonly folder: string | undefined) {}

  /** The value; undefined where there is no such secret. */
  value(org: string, name: string): string | undefined {
    if (!this.folder || !NAME.test(org) || !NAME.test(name)) return undefined;
    try {
      return readFileSync(join(this.folder, org, name), 'utf8').trimEnd();
    } catch {
      return undefined;
    }
  }
}

/** Recordings as files of one folder; names come from routes and tools, so they are checked. */
export class RecordingFiles {
  constructor(private readonly folder: string | undefined) {}

  /** Text of a recording; undefined where there is none of that name. */
  async find(name: string): Promise<string | undefined> {
    if (!this.folder || !NAME.test(name)) return undefined;
    return readFile(join(this.folder, name), 'utf8').catch(() => undefined);
  }

  /** Text of a recording; throws where there is none. */
  async text(name: string): Promise<string> {
    const text = await this.find(name);
    if (text === undefined) throw new Error(`there is no recording "${name}" in the recordings folder`);
    return text;
  }
}
