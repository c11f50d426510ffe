import { Problem } from '@runyard/contracts';
import type { OrganizationCreated, OrganizationEdited, OrganizationErased } from '@runyard/contracts';
import type { Decided } from './decision';
import { requireAdmin } from './rights';
import type { Asker } from './rights';
import { same } from './same';

export type OrganizationEvent = OrganizationCreated | OrganizationEdited | OrganizationErased;
export type OrganizationDecision = Decided<OrganizationCreated | OrganizationEdited>;

export interface ExistingOrganization {
  situation: 'existing';
  name: string;
  timeZone: string;
  createdAt: number;
}
export type Organization = { situation: 'absent' } | ExistingOrganization;

export const NO_ORGANIZATION: Organization = { situation: 'absent' };

export type OrganizationCommand = { asker: Asker } & (
  | { type: 'CreateOrganization'; name: string; timeZone: string }
  | { type: 'EditOrganization'; changes: { name?: string; timeZone?: string } }
);

export function requireOrganization(org: Organization): ExistingOrganization {
  if (org.situation !== 'existing') throw new Problem('not_found', 'There is no such organization');
  return org;
}

export function evolveOrganization(org: Organization, event: OrganizationEvent): Organization {
  if (event.type === 'OrganizationErased') return NO_ORGANIZATION;
  const createdAt = org.situation === 'existing' ? org.createdAt : event.time;
  return { situation: 'existing', ...event.data, createdAt };
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
      const { name, timeZone } = requireOrganization(org);
      requireAdmin(command.asker, 'edit the organization');
      const data = { name, timeZone, ...command.changes };
      return same(data, { name, timeZone }) ? [] : [{ type: 'OrganizationEdited', data }];
    }
    default:
      return command satisfies never;
  }
}
