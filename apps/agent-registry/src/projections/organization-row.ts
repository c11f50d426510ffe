import type { PeopleEvent } from '@runyard/contracts';
import type { RecordedAs } from './commits';

export interface OrganizationRecord {
  org_id: string;
  name: string;
  time_zone: string;
  retention_days: number | null;
  created_at: string;
  position: string;
}

/** The row of an org after an event; undefined: there is none (yet). */
export function organizationAfter(
  row: OrganizationRecord | undefined,
  event: RecordedAs<PeopleEvent>,
): OrganizationRecord | undefined {
  const { position } = event;
  if (event.type === 'RetentionSet') return row && { ...row, retention_days: event.data.runDays, position };
  if (event.type !== 'OrganizationCreated' && event.type !== 'OrganizationEdited') return row;
  const { name, timeZone } = event.data;
  const kept = row ?? { org_id: event.org, retention_days: null, created_at: event.time };
  return { ...kept, name, time_zone: timeZone, position };
}
