import type { DocumentBody } from '@runyard/contracts';
import { deciderSpec } from '@runyard/testing';
import { NO_DOCUMENT, decideDocument, evolveDocument } from './document';
import { MOST_MEMBERS, NO_GROUP, decideGroup, evolveGroup } from './group';
import { storableText } from './storable-text';
import { partOf } from './text-part';

const owner = { userId: 'u1', roles: ['member'] as const };
const stranger = { userId: 'u2', roles: ['member'] as const };
const admin = { userId: 'u3', roles: ['admin'] as const };
const content = { digest: 'd1', bytes: 3, characters: 3 };
const body: DocumentBody = { title: 'Handbook', source: 'wiki', language: 'english', content };
const access = { everyone: false, users: [], groups: [] };
const uploaded = {
  type: 'DocumentUploaded',
  data: { ownerId: 'u1', generation: 1, ...body, access },
} as const;

describe('a document', () => {
  const given = deciderSpec({ initial: NO_DOCUMENT, evolve: evolveDocument, decide: decideDocument });

  test('belongs to who uploads it, and is read by nobody else unless they say so', () => {
    given().when({ type: 'UploadDocument', asker: owner, body, access }).then(uploaded);
    given(uploaded)
      .when({ type: 'UploadDocument', asker: owner, body, access })
      .thenRefused('already_exists');
  });

  test('an id that was used before gets a new generation, so that an old etag fits nothing', () => {
    const deleted = { type: 'DocumentDeleted', data: {} } as const;
    const again = { ...uploaded, data: { ...uploaded.data, ownerId: 'u2', generation: 2 } };
    given(uploaded, deleted).when({ type: 'UploadDocument', asker: stranger, body, access }).then(again);
    given(uploaded, deleted, again)
      .when({ type: 'DeleteDocument', asker: stranger, ifMatch: '1.1' })
      .thenRefused('version_mismatch');
    given(uploaded, deleted).when({ type: 'DeleteDocument', asker: owner }).thenNothing();
  });

  test('readers are a set: said again in another order they are the same', () => {
    const shared = { everyone: false, users: ['b', 'a', 'a'], groups: [] };
    const first = given(uploaded).when({ type: 'ShareDocument', asker: owner, access: shared });
    const event = { type: 'DocumentShared' as const, data: { access: { ...shared, users: ['a', 'b'] } } };
    first.then(event);
    given(uploaded, event).when({ type: 'ShareDocument', asker: admin, access: shared }).thenNothing();
  });

  test('is changed by its owner and by admins alone, against the version that was read', () => {
    const revise = { type: 'ReviseDocument', changes: { title: 'Manual' } } as const;
    given(uploaded)
      .when({ ...revise, asker: stranger })
      .thenRefused('forbidden');
    given(uploaded)
      .when({ ...revise, asker: owner, ifMatch: '1.1' })
      .then({ type: 'DocumentRevised', data: { ...body, title: 'Manual' } });
    given(uploaded)
      .when({ ...revise, asker: owner, ifMatch: '1.2' })
      .thenRefused('version_mismatch');
    given(uploaded)
      .when({ type: 'ReviseDocument', changes: { title: 'Handbook' }, asker: owner })
      .thenNothing();
    given()
      .when({ ...revise, asker: admin })
      .thenRefused('not_found');
  });

  test('one that an application uploaded is for admins', () => {
    const orphan = { ...uploaded, data: { ...uploaded.data, ownerId: null } };
    const key = { userId: null, roles: ['member'] as const };
    given(orphan).when({ type: 'DeleteDocument', asker: key }).thenRefused('forbidden');
    given(orphan).when({ type: 'DeleteDocument', asker: admin }).then({ type: 'DocumentDeleted', data: {} });
  });
});

describe('a group', () => {
  const given = deciderSpec({ initial: NO_GROUP, evolve: evolveGroup, decide: decideGroup });
  const created = { type: 'GroupCreated', data: { name: 'Support' } } as const;
  const added = { type: 'GroupMemberAdded', data: { userId: 'u1' } } as const;

  test('is made and filled by admins; saying it twice changes nothing', () => {
    given().when({ type: 'CreateGroup', asker: owner, name: 'Support' }).thenRefused('forbidden');
    given().when({ type: 'CreateGroup', asker: admin, name: 'Support' }).then(created);
    given(created).when({ type: 'CreateGroup', asker: admin, name: 'Support' }).thenNothing();
    given(created).when({ type: 'AddMember', asker: admin, userId: 'u1' }).then(added);
    given(created, added).when({ type: 'AddMember', asker: admin, userId: 'u1' }).thenNothing();
    given(created).when({ type: 'RemoveMember', asker: admin, userId: 'u1' }).thenNothing();
  });

  test('an id of a deleted group is never used again: documents may still name it', () => {
    const deleted = { type: 'GroupDeleted', data: {} } as const;
    given(created, deleted)
      .when({ type: 'CreateGroup', asker: admin, name: 'Support' })
      .thenRefused('already_exists');
    given(created, deleted).when({ type: 'DeleteGroup', asker: admin }).thenNothing();
  });

  test('has a bound', () => {
    const many = Array.from({ length: MOST_MEMBERS }, (_, index) => ({
      ...added,
      data: { userId: `m${index}` },
    }));
    given(created, ...many)
      .when({ type: 'AddMember', asker: admin, userId: 'one more' })
      .thenRefused('conflict');
  });
});

test('a part of a text parts no pair, and parts put together are the whole', () => {
  const text = 'a😀b😀😀c';
  const document = { document_id: 'd', title: 't', source: '' };
  for (const length of [1, 2, 3]) {
    let read = '';
    for (let offset: number | null = 0; offset !== null;) {
      const part = partOf(document, text, offset, length);
      expect(part.text).not.toMatch(/\p{Surrogate}/u);
      read += part.text;
      offset = part.next_offset;
    }
    expect(read).toBe(text);
  }
  expect(partOf(document, text, 1_000, 5)).toMatchObject({
    offset: text.length,
    text: '',
    next_offset: null,
  });
  expect(partOf(document, text, 2, 2).text).toBe('b');
});

test('what cannot be stored is replaced visibly', () => {
  expect(storableText('a\0b\uD800c😀')).toEqual({ text: 'a�b�c😀', replaced: 2 });
});
