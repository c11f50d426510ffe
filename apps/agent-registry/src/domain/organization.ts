import { Problem } from '@runyard/contracts';
import type {
  OrganizationCreated,
  OrganizationEdited,
  OrganizationErased,
  RetentionSet,
} from '@runyard/contracts';
import type { Decided } from './decision';
import { requireAdmin } from './rights';
import type { Asker } from './rights';
import { same } from './same';

export type OrganizationEvent = OrganizationCreated | OrganizationEdited | RetentionSet | OrganizationErased;
export type OrganizationDecision = Decided<OrganizationCreated | OrganizationEdited | RetentionSet>;

export interface ExistingOrganization {
  situation: 'existing';
  name: string;
  timeZone: string;
  /** Null: runs are kept for ever. */
  retentionDays: number | null;
  createdAt: number;
}
export type Organization = { situation: 'absent' } | ExistingOrganization;

export const NO_ORGANIZATION: Organization = { situation: 'absent' };

export type OrganizationCommand = { asker: Asker } & (
  | { type: 'CreateOrganization'; name: string; timeZone: string }
  | { type: 'EditOrganization'; changes: { name?: string; timeZone?: string; retentionDays?: number | null } }
);

export function requireOrganization(org: Organization): ExistingOrganization {
  if (org.situation !== 'existing') throw new Problem('not_found', 'There is no such organization');
  return org;
}

export function evolveOrganization(org: Organization, event: OrganizationEvent): Organization {
  if (event.type === 'OrganizationErased') return NO_ORGANIZATION;
  if (event.type === 'RetentionSet')
    return org.situation === 'existing' ? { ...org, retentionDays: event.data.runDays } : org;
  const { name, timeZone } = event.data;
  const kept = org.situation === 'existing' ? org : { retentionDays: null, createdAt: event.time };
  return { ...kept, situation: 'existing', name, timeZone };
}

export function decideOrganization(org: Organization, command: OrganizationCommand): OrganizationDecision[] {
  switch (command.type) {
    case 'CreateOrganization': {
      // Nobody is a member of an org that is not there yet: the installation alone makes one.
      if (!command.asker.system)
        throw new Problem('forbidden', 'Only the installation may create organizations');
      if (org.situation === 'existing')
        throw new Problem('already_exists', 'This organization is there already');
      return [{ type: 'OrganizationCreated', data: { name: command.name, timeZone: command.timeZone } }];
    }
    case 'EditOrganization': {
      const { name, timeZone, retentionDays } = requireOrganization(org);
      requireAdmin(command.asker, 'edit the organization');
      const { retentionDays: runDays = retentionDays, ...changes } = command.changes;
      const data = { name, timeZone, ...changes };
      const decided: OrganizationDecision[] = [];
      if (!same(data, { name, timeZone })) decided.push({ type: 'OrganizationEdited', data });
      if (runDays !== retentionDays) decided.push({ type: 'RetentionSet', data: { runDays } });
      return decided;
    }
    default:
      return command satisfies never;
  }
}
