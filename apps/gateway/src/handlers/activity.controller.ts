import { Controller } from '@nestjs/common';
import { ACTIVITY_SUBJECTS, ACTIVITY_TOPICS, listActivitySchema } from '@runyard/contracts';
import { z } from 'zod';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY } from './access';
import { named, pageOf } from './rows';
import { Services } from './services.adapter';

const text = z.string();

const activityRow = named(
  'Activity',
  z.looseObject({
    time: z.iso.datetime({ offset: true }),
    topic: z.enum(ACTIVITY_TOPICS),
    kind: text.describe('<thing>.<what happened>, for example run.failed'),
    actor: text.describe('user:<uuid>, service:<key id> or system:<part>'),
    subject: z.looseObject({ kind: z.enum(ACTIVITY_SUBJECTS), id: text }),
    agent_id: text.nullable(),
    run_id: text.nullable(),
    task_id: text.nullable(),
    summary: text.describe('What the actor did, in one line: names, numbers and codes, never content'),
    stream: text.describe('Stream of the event that the entry is made of'),
    position: text.describe('Position of that event in its stream'),
  }),
);

/** What happened in the org: passed on to the service that gathers it. */
@Controller()
export class ActivityController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/activity',
    name: 'activity.list',
    tag: 'activity',
    summary: 'Read what happened, newest first',
    description:
      'Starts, ends, decisions, controls, locks, board changes and changes of agents. Entries are there about half a second after the event. One sees those of one’s own things; reviewers also what asks; admins and operators all of the org. To go on from where one was, ask from the time of the newest entry that one has.',
    access: ANYBODY,
    input: listActivitySchema,
    success: [{ status: 200, description: 'A page of the feed', body: pageOf('ActivityPage', activityRow) }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'activity.list');
  }
}
