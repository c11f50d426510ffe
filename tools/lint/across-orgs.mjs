/**
 * The only files that may call acrossOrgs(): the way past row-level security, for projectors, sweeps and scans (P8.8).
 * A new line here is a decision about tenants' isolation; say in the commit why inOrg() does not do.
 */
export const ACROSS_ORGS = [
  /^libs\/persistence\/src\//,
  /^libs\/testing\/src\//,
  // Sweeps and heartbeats: a dead executor drove runs of any org.
  /^apps\/run-executor\/src\/projections\/operations\.queries\.ts$/,
  // Runs that wait for children whose message was lost may be any org's.
  /^apps\/run-executor\/src\/projections\/waiting\.queries\.ts$/,
  // Bulk actions of any org may have lost the process that carried them out.
  /^apps\/run-executor\/src\/projections\/open-bulk-actions\.queries\.ts$/,
  // A presented key says which org it is of; before it is found nobody knows.
  /^apps\/agent-registry\/src\/projections\/key\.queries\.ts$/,
  // One scan finds the due slots of all orgs.
  /^apps\/scheduler\/src\/projections\/clock\.queries\.ts$/,
  // Reservations whose run never came to be: one sweep looks after all orgs.
  /^apps\/budget-ledger\/src\/projections\/unborn\.queries\.ts$/,
  // One scan finds the approvals of all orgs that nobody decided in time.
  /^apps\/approvals\/src\/projections\/due\.queries\.ts$/,
  // One look finds what tasks of all orgs wait for.
  /^apps\/tasks\/src\/projections\/watch\.queries\.ts$/,
];
