import { Problem } from '@runyard/contracts';
import type { DocumentAccess, FieldError } from '@runyard/contracts';
import type { KnowledgeLog } from './knowledge-log.adapter';

/** Refuses readers who are not there: a mistyped id would share with nobody, and nobody would notice. */
export async function requireReaders(log: KnowledgeLog, org: string, access: DocumentAccess): Promise<void> {
  const [users, groups] = await Promise.all([
    Promise.all(access.users.map((id) => log.standing(org, id))),
    Promise.all(access.groups.map((id) => log.read(log.group(org, id)))),
  ]);
  const errors: FieldError[] = [
    ...users.flatMap((standing, index) =>
      standing === 'unknown'
        ? [{ pointer: `/users/${index}`, detail: 'is not a user of this organization' }]
        : [],
    ),
    ...groups.flatMap(({ situation }, index) =>
      situation === 'existing' ? [] : [{ pointer: `/groups/${index}`, detail: 'is not a group' }],
    ),
  ];
  if (errors[0])
    throw new Problem(
      'invalid_request',
      `The readers are not valid: ${errors[0].pointer} ${errors[0].detail}`,
      {
        errors,
      },
    );
}
