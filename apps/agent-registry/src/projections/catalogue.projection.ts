import { AGENT_EVENTS, CATALOGUE_EVENTS } from '@runyard/contracts';
import type { Projection, Tx } from '@runyard/persistence';
import { BESIDE_DEPARTURES } from './departures';
import { evolveImage, versionOf } from './agent-image';
import type { AgentImage, AgentRecorded } from './agent-image';
import { AGENTS, LINKS, VERSIONS } from './agent-records';
import type { VersionRecord } from './agent-records';
import { MODELS, SETTINGS, TOOLS, emptyCatalogue, evolveCatalogue } from './catalogue-image';
import type { CatalogueImage, CatalogueRecorded } from './catalogue-image';
import { recorded } from './commits';
import type { Recorded } from './commits';
import { deleteRows, distinctPlaces, loadOrgs, loadRows, placeKey, saveRows } from './records';
import type { Place } from './records';

/** Agents with their versions and links, allowed models, tools and settings, from the whole stream AGENTS. */
export const CATALOGUE_PROJECTION: Projection = {
  name: 'registry-catalogue',
  version: 1,
  stream: 'AGENTS',
  async apply(tx, commits) {
    const events = recorded(commits, KNOWN);
    await applyCatalogue(tx, events.filter(isCatalogue));
    await applyAgents(tx, events.filter(isAgent));
  },
};

const KNOWN = { ...AGENT_EVENTS, ...CATALOGUE_EVENTS };
const isAgent = (event: Recorded): event is AgentRecorded =>
  event.context === 'agents' && event.type in AGENT_EVENTS;
const isCatalogue = (event: Recorded): event is CatalogueRecorded =>
  event.context === 'catalogue' && event.type in CATALOGUE_EVENTS;

async function applyCatalogue(tx: Tx, events: readonly CatalogueRecorded[]): Promise<void> {
  const orgs = [...new Set(events.map(({ org }) => org))];
  if (orgs.length === 0) return;
  const images = new Map(orgs.map((org): [string, CatalogueImage] => [org, emptyCatalogue(org)]));
  for (const row of await loadOrgs(tx, MODELS, orgs)) images.get(row.org_id)?.models.set(row.model_id, row);
  for (const row of await loadOrgs(tx, TOOLS, orgs)) images.get(row.org_id)?.tools.set(row.name, row);
  for (const row of await loadOrgs(tx, SETTINGS, orgs))
    Object.assign(images.get(row.org_id) ?? {}, { settings: row });
  const removed: Place[] = [];
  for (const event of events) {
    const image = images.get(event.org);
    if (image) evolveCatalogue(image, event);
    if (event.type === 'ToolRemoved') removed.push({ org: event.org, id: event.data.name });
  }
  const all = [...images.values()];
  await saveRows(
    tx,
    MODELS,
    all.flatMap(({ models }) => [...models.values()]),
  );
  await deleteRows(tx, TOOLS.name, 'name', removed);
  await saveRows(
    tx,
    TOOLS,
    all.flatMap(({ tools }) => [...tools.values()]),
  );
  await saveRows(
    tx,
    SETTINGS,
    all.map(({ settings }) => settings),
  );
}

async function applyAgents(tx: Tx, events: readonly AgentRecorded[]): Promise<void> {
  if (events.length === 0) return;
  const places = distinctPlaces(events);
  const images = await loadImages(tx, places);
  const versions = new Map<string, VersionRecord[]>();
  const purged: Place[] = [];
  for (const event of events) {
    const key = placeKey(event);
    const image = images.get(key) ?? null;
    const version = versionOf(event, image?.row.owner_id);
    if (version) versions.set(key, [...(versions.get(key) ?? []), version]);
    if (event.type === 'AgentDeleted' && event.data.history === 'purge' && purged.push(event))
      versions.delete(key);
    images.set(key, evolveImage(image, event));
  }
  await saveImages(tx, places, images);
  // What a purge found in the table goes first; what was created again after it comes then.
  await deleteRows(tx, VERSIONS.name, 'agent_id', purged);
  await saveRows(tx, VERSIONS, [...versions.values()].flat());
}

async function loadImages(tx: Tx, places: readonly Place[]): Promise<Map<string, AgentImage | null>> {
  const images = new Map<string, AgentImage | null>();
  for (const row of await loadRows(tx, AGENTS, 'agent_id', places))
    images.set(placeKey({ org: row.org_id, id: row.agent_id }), { row, links: [] });
  for (const link of await loadRows(tx, LINKS, 'agent_id', places))
    images.get(placeKey({ org: link.org_id, id: link.agent_id }))?.links.push(link);
  return images;
}

/** Links are written anew: there are few, and what an author reorders changes all of them. */
async function saveImages(
  tx: Tx,
  places: readonly Place[],
  images: ReadonlyMap<string, AgentImage | null>,
): Promise<void> {
  const kept = places.flatMap((place) => images.get(placeKey(place)) ?? []);
  const gone = places.filter((place) => !images.get(placeKey(place)));
  const owned = await withOwners(tx, kept);
  await deleteRows(tx, AGENTS.name, 'agent_id', gone);
  await deleteRows(tx, LINKS.name, 'agent_id', places);
  await saveRows(
    tx,
    AGENTS,
    owned.map(({ row }) => row),
  );
  await saveRows(
    tx,
    LINKS,
    owned.flatMap(({ links }) => links),
  );
}

/**
 * Images whose owner has a row; one is made where PEOPLE, read by another projection, has not come that far. An agent of
 * an owner who was deleted is left out: the reaction to the deletion deletes it. The rows are locked against a deletion
 * under way, which then takes the agents with it.
 */
async function withOwners(tx: Tx, images: readonly AgentImage[]): Promise<AgentImage[]> {
  if (images.length === 0) return [];
  const owners = [images.map(({ row }) => row.org_id), images.map(({ row }) => row.owner_id)];
  await tx.query(BESIDE_DEPARTURES);
  await tx.query(
    `INSERT INTO users (org_id, user_id)
     SELECT DISTINCT org, id FROM unnest($1::uuid[], $2::uuid[]) AS owner (org, id)
     WHERE NOT EXISTS (SELECT FROM departed_users d WHERE d.org_id = org AND d.user_id = id)
     ORDER BY org, id
     ON CONFLICT DO NOTHING`,
    owners,
  );
  const there = await tx.query<{ org: string; id: string }>(
    `SELECT u.org_id AS org, u.user_id AS id FROM users u
     WHERE (u.org_id, u.user_id) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[]))
     ORDER BY 1, 2 FOR KEY SHARE`,
    owners,
  );
  const present = new Set(there.map(placeKey));
  return images.filter(({ row }) => present.has(placeKey({ org: row.org_id, id: row.owner_id })));
}
