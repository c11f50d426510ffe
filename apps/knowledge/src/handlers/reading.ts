import { Problem } from '@runyard/contracts';
import type { Caller, ReadAnswer, SearchAnswer, SourcesAnswer } from '@runyard/contracts';
import { listKnowledgeSchema, readKnowledgeSchema, searchKnowledgeSchema } from '@runyard/contracts';
import { blobs } from '@runyard/persistence';
import type { Blobs, Database, Tx } from '@runyard/persistence';
import { partOf } from '../domain/text-part';
import {
  knowledgeReached,
  readableDocument,
  readableSources,
  searchPassages,
} from '../projections/knowledge.queries';
import type { KnowledgeLog } from './knowledge-log.adapter';
import { orgOf, parsed, readerOf } from './requests';

/** How long rows may lag behind the log before a read is refused rather than answered by rights of yesterday. */
const RIGHTS_MS = 5_000;

/**
 * What the core tools do, in the name of a person. Before each read the rows must reflect everything that the log held
 * when it was asked for: a right that was revoked before is revoked in it, however busy the projector is. A person who
 * is deactivated, or gone, reads nothing.
 */
export class Reading {
  private readonly texts: Blobs;

  constructor(
    private readonly knowledge: KnowledgeLog,
    private readonly db: Database,
  ) {
    this.texts = blobs(db);
  }

  async search(caller: Caller, input: unknown): Promise<SearchAnswer> {
    const { query, limit } = parsed(searchKnowledgeSchema, input);
    const results = await this.asReader(caller, (tx, reader) => searchPassages(tx, reader, query, limit));
    if (results === undefined)
      return { results: [], note: 'The query holds no word that could be looked for.' };
    if (results.length === 0) return { results, note: 'No document that may be read holds these words.' };
    return { results };
  }

  async read(caller: Caller, input: unknown): Promise<ReadAnswer> {
    const { document_id: id, offset, length } = parsed(readKnowledgeSchema, input);
    const document = await this.asReader(caller, (tx, reader) => readableDocument(tx, reader, id));
    const text = document && (await this.texts.get(caller.org, document.digest));
    if (!document || text === undefined)
      throw new Problem('not_found', `There is no document ${id}, or it may not be read`);
    return partOf(document, text, offset, length);
  }

  sources(caller: Caller, input: unknown): Promise<SourcesAnswer> {
    const page = parsed(listKnowledgeSchema, input);
    return this.asReader(caller, (tx, reader) => readableSources(tx, reader, page));
  }

  private async asReader<T>(caller: Caller, work: (tx: Tx, reader: string) => Promise<T>): Promise<T> {
    const [org, reader] = [orgOf(caller), readerOf(caller)];
    const [end, standing] = await Promise.all([this.knowledge.end(), this.knowledge.standing(org, reader)]);
    if (standing !== 'active')
      throw new Problem('owner_inactive', 'The person in whose name this reads is not active');
    if (!(await knowledgeReached(this.db, end, RIGHTS_MS)))
      throw new Problem('unavailable', 'The access lists are not up to date yet; try again shortly', {
        retryable: true,
        retryAfterSeconds: 1,
      });
    return this.db.inOrg(org, (tx) => work(tx, reader));
  }
}
