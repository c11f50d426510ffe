import { isUtf8 } from 'node:buffer';
import { binaryTextArray } from './binary-array';
import { cleanText } from './clean-text';
import type { ProjectedCommit, Projection, Tx } from './types';

/** Schema of the archive and of the checkpoints of those who write it. */
export const ARCHIVE = 'archive';

/** Marks a body that is no text that Postgres takes, and is kept as base64. Nothing of ours is; a stranger's message may be. */
export const BODY_ENCODING = 'Runyard-Body-Encoding';

/** The archive holds another commit at the same place: the stream was restored or created anew with other contents. */
export class ArchiveMismatch extends Error {}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** `runyard.<context>.<slot>.<org>.<id>`: the org is the fourth token. A subject without one belongs to no tenant. */
function orgOf(subject: string): string | null {
  const org = subject.split('.', 4)[3];
  return org !== undefined && UUID.test(org) ? org : null;
}

const isText = (body: Uint8Array): boolean => isUtf8(body) && !body.includes(0);

interface Stored {
  headers: Uint8Array;
  body: Uint8Array;
}

const jsonOf = (headers: Record<string, string>): Buffer => Buffer.from(cleanText(JSON.stringify(headers)));

function stored({ headers, body }: ProjectedCommit): Stored {
  if (isText(body)) return { headers: jsonOf(headers), body };
  const encoded = Buffer.from(Buffer.from(body).toString('base64'));
  return { headers: jsonOf({ ...headers, [BODY_ENCODING]: 'base64' }), body: encoded };
}

const ROWS = `
  SELECT $1, sequence, subject, org_id, commit_id, to_timestamp(stored_ms / 1000.0), headers::jsonb, body
  FROM unnest($2::int8[], $3::text[], $4::uuid[], $5::text[], $6::float8[], $7::text[], $8::text[])
    AS c (sequence, subject, org_id, commit_id, stored_ms, headers, body)`;

const into = (rest: string): string => `
  WITH stored AS (
    INSERT INTO archive.event_log (stream, sequence, subject, org_id, commit_id, stored_at, headers, body)
    ${ROWS} ${rest} RETURNING 1)
  SELECT count(*)::int AS stored FROM stored`;

/** All or none: nothing of the batch is there, as nearly always. Looking for a conflict at each row costs a fifth more. */
const INSERT_NEW = into(`
  WHERE NOT EXISTS (SELECT FROM archive.event_log kept WHERE kept.stream = $1 AND kept.sequence BETWEEN $9 AND $10)`);

const INSERT_MISSING = into('ON CONFLICT (stream, sequence) DO NOTHING');

const OTHERS = `
  SELECT kept.sequence, kept.commit_id FROM archive.event_log kept
  JOIN unnest($2::int8[], $3::text[]) AS c (sequence, commit_id) USING (sequence)
  WHERE kept.stream = $1 AND kept.commit_id <> c.commit_id
  ORDER BY kept.sequence LIMIT 1`;

function parameters(stream: string, commits: readonly ProjectedCommit[]): unknown[] {
  const contents = commits.map(stored);
  return [
    stream,
    commits.map(({ sequence }) => sequence),
    commits.map(({ subject }) => subject),
    commits.map(({ subject }) => orgOf(subject)),
    commits.map(({ commitId }) => commitId),
    commits.map(({ storedAt }) => storedAt),
    binaryTextArray(contents.map(({ headers }) => headers)),
    binaryTextArray(contents.map(({ body }) => body)),
  ];
}

async function countOf(tx: Tx, insert: string, params: readonly unknown[]): Promise<number> {
  const [row] = await tx.query<{ stored: number }>(insert, params);
  return row?.stored ?? 0;
}

/** What is there already must be the same commit. */
async function refuseOthers(tx: Tx, stream: string, commits: readonly ProjectedCommit[]): Promise<void> {
  const [other] = await tx.query<{ sequence: bigint; commit_id: string }>(OTHERS, [
    stream,
    commits.map(({ sequence }) => sequence),
    commits.map(({ commitId }) => commitId),
  ]);
  if (other)
    throw new ArchiveMismatch(
      `The archive holds commit ${other.commit_id} at ${stream} ${other.sequence}, the stream another one`,
    );
}

/** The stream itself is the first copy, so the second one need not be made commit by commit. */
const GATHER_MS = 100;

/** Copies every commit of a stream, as it lies there, into `archive.event_log`. The one projection that must not be thrown away (P9.3). */
export function archiveProjection(stream: string): Projection {
  return {
    name: 'archive',
    version: 1,
    stream,
    checkpointSchema: ARCHIVE,
    gatherMs: GATHER_MS,
    async apply(tx, commits) {
      const rows = parameters(stream, commits);
      const range = [commits[0]?.sequence, commits.at(-1)?.sequence];
      if ((await countOf(tx, INSERT_NEW, [...rows, ...range])) === commits.length) return;
      if ((await countOf(tx, INSERT_MISSING, rows)) < commits.length) await refuseOthers(tx, stream, commits);
    },
  };
}
