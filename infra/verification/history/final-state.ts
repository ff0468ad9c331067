import type { Client } from '@tocsin/testing';
import type { Operation } from './history.ts';
import { readPictures, type Size } from './pictures.ts';
import { type Json, valueOf, type Version, versionsIn } from './resources.ts';

export type Entry = readonly [revision: number, changes: readonly { field: string }[]];

/** What the API shows of a workspace in the end. */
export interface FinalState {
  versions: ReadonlyMap<string, Version>;
  /** By incident: revisions and their changes, the oldest first. */
  changelogs: ReadonlyMap<string, readonly Entry[]>;
  counts: readonly { path: string; counted: unknown; rows: number }[];
  /** Of acknowledged uploads, by ID; undefined: it is not there. */
  pictures: ReadonlyMap<number, Size | undefined>;
}

/** @throws Error if a page is not 200 */
async function readAll(client: Client, path: string): Promise<Json[]> {
  const pages: Json[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined;) {
    const answer = await client.get(`${path}${path.includes('?') ? '&' : '?'}limit=100${cursor}`);
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`);
    const page = answer.body as Json & { pagination: { next_cursor?: string } };
    pages.push(page);
    const next: string | undefined = page.pagination.next_cursor;
    cursor = next === undefined ? undefined : `&cursor=${encodeURIComponent(next)}`;
  }
  return pages;
}

/** Incidents, follow-ups, services, teams and fields, archived ones included. */
export async function readLists(client: Client, slug: string): Promise<Pick<FinalState, 'versions' | 'counts'>> {
  const versions = new Map<string, Version>();
  const counts: FinalState['counts'][number][] = [];
  for (const path of LISTS) {
    const pages = await readAll(client, `/api/v1/${path}`);
    const rows = pages.flatMap((page) => versionsIn(slug, page));
    for (const version of rows) versions.set(version.name, version);
    const count = pages[0]?.['collection_counts'] as { matched: number; by_status: Record<string, number> } | undefined;
    if (count === undefined) continue;
    const sum = Object.values(count.by_status).reduce((a, b) => a + b, 0);
    counts.push({ path, counted: count.matched, rows: rows.length }, { path, counted: sum, rows: rows.length });
  }
  return { versions, counts };
}

const LISTS = [
  'incidents?include_counts=true',
  'incidents/archived?include_counts=true',
  'follow-ups',
  'services?include_archived=true',
  'teams?include_archived=true',
  'custom-fields?include_archived=true',
];

/** Incidents that are read at once. */
const AT_ONCE = 8;

/** @param operations of the workspace */
export async function readFinalState(
  client: Client,
  slug: string,
  operations: readonly Operation[],
): Promise<FinalState> {
  const { versions: listed, counts } = await readLists(client, slug);
  const pictures = await readPictures(client, operations);
  const state = { versions: new Map(listed), changelogs: new Map(), counts: [...counts], pictures };
  const incidents = [...listed.values()].filter(({ name }) => name.startsWith(`${slug} incident `));
  const readOne = async (incident: Version) => {
    const path = `/api/v1/incidents/${incident.name.split(' ').at(-1)}`;
    const pages = await readAll(client, `${path}/timeline`);
    const rows = pages.flatMap((page) => versionsIn(slug, page));
    for (const version of rows) state.versions.set(version.name, version);
    for (const counted of [valueOf('incident', incident, 'event_count'), pages[0]?.['matched_count']])
      state.counts.push({ path, counted, rows: rows.length });
    const entries = (await readAll(client, `${path}/changelog`)).flatMap((page) => page['changelog'] as Json[]);
    const changes = entries.map((entry) => [Number(entry['revision']), entry['changes']] as Entry);
    state.changelogs.set(incident.name, changes.toReversed());
  };
  while (incidents.length > 0) await Promise.all(incidents.splice(0, AT_ONCE).map(readOne));
  return state;
}
