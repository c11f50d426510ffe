import { z } from 'zod';
import { agentSlug, pageSchema, rowId } from '../agents/agent.requests';
import { timeSchema } from '../storable';

// The activity feed: what happened in an org, one readable line an entry (domain, section 5).

/** What entries are about, as people ask for them. */
export const ACTIVITY_TOPICS = [
  'starts',
  'ends',
  'decisions',
  'controls',
  'locks',
  'board',
  'agents',
] as const;
export type ActivityTopic = (typeof ACTIVITY_TOPICS)[number];

/** Things that entries speak of. */
export const ACTIVITY_SUBJECTS = ['run', 'approval', 'rule', 'task', 'agent'] as const;
export type ActivitySubject = (typeof ACTIVITY_SUBJECTS)[number];

const time = timeSchema('must be an RFC 3339 time with an offset');

/** `activity.list`: newest first. */
export const listActivitySchema = z.strictObject({
  limit: pageSchema.limit,
  cursor: pageSchema.cursor,
  topic: z.enum(ACTIVITY_TOPICS, `must be one of ${ACTIVITY_TOPICS.join(', ')}`).optional(),
  /** One kind of entry, for example `run.failed`. */
  kind: z
    .string()
    .regex(/^[a-z]{1,20}\.[a-z_]{1,40}$/, 'must be a kind of entry, for example run.failed')
    .optional(),
  agent_id: agentSlug.optional(),
  run_id: rowId('run id').optional(),
  task_id: rowId('task id').optional(),
  /** Who did it: `user:<uuid>`, `service:<key id>` or `system:<part>`. */
  actor: z
    .string()
    .regex(/^(user|service|system):[A-Za-z0-9_-]{1,80}$/, 'must be an actor, for example user:<uuid>')
    .optional(),
  /** At or after. */
  from: time.optional(),
  /** Before. */
  to: time.optional(),
});
export type ListActivity = z.infer<typeof listActivitySchema>;

/** An entry as `activity.list` answers it. */
export interface ActivityRow {
  /** RFC 3339. */
  time: string;
  topic: ActivityTopic;
  /** `<thing>.<what happened>`. */
  kind: string;
  actor: string;
  subject: { kind: ActivitySubject; id: string };
  agent_id: string | null;
  run_id: string | null;
  task_id: string | null;
  /** What the actor did, without any content. */
  summary: string;
  /** The event that it is made of. */
  stream: string;
  position: string;
}
