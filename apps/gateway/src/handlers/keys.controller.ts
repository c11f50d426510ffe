import { Controller } from '@nestjs/common';
import { createKeySchema, keyRefSchema, listKeysSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { PEOPLE } from './access';
import { changeRow, createdKeyRow, keyRow, pageOf } from './rows';
import { Services } from './services.adapter';

/** API keys: passed on to the agent registry, which stores their hashes only. */
@Controller()
export class KeysController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/keys',
    name: 'keys.list',
    tag: 'keys',
    summary: 'List API keys, newest first',
    description: 'Members see their own.',
    access: PEOPLE,
    input: listKeysSchema,
    success: [
      {
        status: 200,
        description: 'A page of keys, without the keys themselves',
        body: pageOf('KeyPage', keyRow),
      },
    ],
    problems: ['invalid_cursor'],
  })
  keys(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'keys.list');
  }

  @Route({
    method: 'POST',
    path: '/v1/keys',
    name: 'keys.create',
    tag: 'keys',
    summary: 'Create an API key',
    description: 'The key is shown in this answer and never again.',
    access: PEOPLE,
    input: createKeySchema,
    success: [{ status: 201, description: 'The key', body: createdKeyRow }],
    idempotency: 'replayed',
    shownOnce: ['key'],
  })
  createKey(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'keys.create');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/keys/:key_id',
    name: 'keys.revoke',
    tag: 'keys',
    summary: 'Revoke an API key',
    access: PEOPLE,
    input: keyRefSchema,
    success: [{ status: 200, description: 'Revoked', body: changeRow }],
  })
  revoke(@FromRequest() call: Call): Promise<unknown> {
    return this.services.registry(call, 'keys.revoke');
  }
}
