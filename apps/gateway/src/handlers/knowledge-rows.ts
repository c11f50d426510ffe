import { z } from 'zod';
import { named } from './rows';

const time = z.iso.datetime({ offset: true });
const text = z.string();
const count = z.int().min(0);

export const storedDocumentRow = named(
  'Document',
  z.looseObject({
    document_id: text,
    owner_id: z.uuid().nullable().describe('Null: an application uploaded it'),
    title: text,
    source: text,
    language: text,
    bytes: count,
    characters: count,
    access: z.looseObject({ everyone: z.boolean(), users: z.array(text), groups: z.array(text) }),
    created_at: time,
    updated_at: time,
    etag: text.describe('Send it as If-Match with the next change'),
    position: text,
  }),
);
export const groupRow = named(
  'Group',
  z.looseObject({ group_id: text, name: text, members: count, created_at: time, position: text }),
);
