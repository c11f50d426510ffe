/** All change days of all zones instead of some of each: takes minutes. */
export const ALL_CHANGES = process.env['RUNYARD_ALL_ZONE_CHANGES'] === 'on';
