import type { Projection } from '@runyard/persistence';
import { KNOWLEDGE_PROJECTION } from './documents.projection';

/** What `verify` needs to rebuild a projection of this service beside its live rows and compare them. */
export interface VerifiedProjection {
  projection: Projection;
  schema: string;
  tables: readonly string[];
}

export const KNOWLEDGE_PROJECTIONS: readonly VerifiedProjection[] = [
  {
    projection: KNOWLEDGE_PROJECTION,
    schema: 'knowledge',
    tables: ['documents', 'document_readers', 'reader_groups', 'group_members', 'passages'],
  },
];
