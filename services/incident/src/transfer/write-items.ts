import { invalidState } from '@tocsin/http';
import { auditEvent, changeBy, insertEvents, type NewEvent } from '@tocsin/messaging';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import type { Configuration } from '../configuration/domain/configuration.ts';
import { type Author, authorOf, editOf, publishedActor, recordedActor } from '../incidents/save-incident.ts';
import { type Change, changesBetween, shortenChanges } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { incidentSnapshot } from '../incidents/domain/snapshot.ts';
import type { Attempt } from '../incidents/run-command.ts';
import { BY_IMPORT, type ChangelogEntry, insertChangelogEntries } from '../incidents/store/changelog-store.ts';
import { lockIncidents } from '../incidents/store/incident-store.ts';
import { countAllReferences } from '../incidents/store/service-references.ts';
import { Retry } from '../shared/domain/retry.ts';
import { keepWritten } from '../postmortem/store/written-store.ts';
import { keepEvents } from '../timeline/store/former-event-store.ts';
import { valueStatements } from '../values/store/value-store.ts';
import { type ImportResult, ownIdOf, type Refusal, refusalOf } from './domain/item.ts';
import { type PlanContext, type Planned, planItem, type PreparedItem, withLastEvent } from './domain/plan.ts';
import { relateItems, relationLocks } from './relate-items.ts';
import {
  findEvents,
  findFollowUps,
  findLatestEvents,
  findMissingEntries,
  findPostmortems,
  lockByExternalIds,
  lockCounter,
  nextIds,
  putEvents,
  putFollowUps,
  putIncidents,
  putPostmortems,
  raiseCounter,
  type StoredEvent,
} from './store/import-store.ts';

interface WriteOptions<Item> {
  caller: Caller;
  items: readonly Item[];
  configuration: Configuration;
  now: Instant;
  checkStorage: Attempt['checkStorage'];
}

/**
 * Writes the items of a request in one transaction, with a few statements for each round, whatever the number of its
 * items. Everything commits but what is refused; the audit log has what became of the request.
 * @throws Retry if the configuration has changed
 */
export async function writeItems(
  trx: Knex.Transaction,
  options: WriteOptions<PreparedItem | Refusal>,
): Promise<ImportResult[]> {
  const { caller, items, now } = options;
  const results = items.map((item): ImportResult | undefined => ('outcome' in item ? item : undefined));
  await pipeline(trx, relationLocks(caller.principal.workspace.id, items));
  for (const round of roundsOf(items)) {
    const written = await write(trx, { ...options, items: round.map(({ item }) => item) });
    for (const [index, { place }] of round.entries()) results[place] = written[index];
  }
  await addRelations(trx, { ...options, results: results as ImportResult[] });
  const counts = countOutcomes(results as ImportResult[]);
  if (counts.created + counts.updated > 0) {
    const entry = { action: 'incidents.imported', target: { type: 'import', id: caller.requestId } };
    await pipeline(
      trx,
      [insertEvents([auditEvent(changeBy(caller), { ...entry, before: null, after: counts, now })])],
      { commit: true },
    );
  }
  return results as ImportResult[];
}

/** Incidents that are changed at once. */
const BATCH = 50;

/** Adds relations, which change both of their incidents; the results follow. */
async function addRelations(
  trx: Knex.Transaction,
  { caller, items, now, results }: WriteOptions<PreparedItem | Refusal> & { results: ImportResult[] },
): Promise<void> {
  const author = authorOf(caller);
  const { id: workspaceId } = caller.principal.workspace;
  const { changes, places } = await relateItems(trx, { workspaceId, items, results });
  const ids = [...changes.keys()];
  const revisions = new Map<number, number>();
  for (let start = 0; start < ids.length; start += BATCH) {
    const incidents = await query(trx, lockIncidents(workspaceId, ids.slice(start, start + BATCH)));
    const planned = incidents.map((before) => {
      const added = changes.get(before.id) ?? [];
      const isDuplicate = before.isDuplicate || added.some(({ field }) => field === 'relations.duplicate_of');
      return { before, after: { ...before, revision: before.revision + 1, isDuplicate }, added };
    });
    for (const { after } of planned) revisions.set(after.id, after.revision);
    await pipeline(trx, [
      putIncidents(planned.map(({ after }) => after)),
      insertChangelogEntries(
        workspaceId,
        planned.map(({ after, added }) => importEntry(after, { changes: added, author, now })),
      ),
      insertEvents(planned.map((plan) => importEvent(plan, author, now))),
    ]);
  }
  for (const [place, result] of results.entries()) {
    if (result.outcome === 'refused') continue;
    const { id, number } = result.incident;
    const revision = revisions.get(id) ?? result.incident.revision;
    const outcome = places.has(place) && result.outcome === 'unchanged' ? 'updated' : result.outcome;
    results[place] = { ...result, outcome, incident: { id, number, revision } };
  }
}

/** Several items may be parts of one incident: each is written after those before it. */
function roundsOf(items: readonly (PreparedItem | Refusal)[]): { place: number; item: PreparedItem }[][] {
  const rounds: { place: number; item: PreparedItem }[][] = [];
  const counts = new Map<string, number>();
  for (const [place, item] of items.entries()) {
    if ('outcome' in item) continue;
    const count = counts.get(item.externalId) ?? 0;
    counts.set(item.externalId, count + 1);
    (rounds[count] ??= []).push({ place, item });
  }
  return rounds;
}

function countOutcomes(results: readonly ImportResult[]) {
  const counts = { created: 0, updated: 0, unchanged: 0, refused: 0 };
  for (const { outcome } of results) counts[outcome] += 1;
  return counts;
}

/** Writes items with different external IDs. */
async function write(trx: Knex.Transaction, options: WriteOptions<PreparedItem>): Promise<ImportResult[]> {
  const { caller, items, configuration, now, checkStorage } = options;
  const { workspace, user_id: importer } = caller.principal;
  const externalIds = items.map(({ externalId }) => externalId);
  const eventCount = items.reduce((sum, { events }) => sum + events.length, 0);
  const followUpCount = items.reduce((sum, { followUps }) => sum + followUps.length, 0);
  const [[counter], incidents, incidentIds, eventIds, followUpIds] = await pipeline(trx, [
    lockCounter(workspace.id),
    lockByExternalIds(workspace.id, externalIds),
    nextIds('incidents', items.length),
    nextIds('timeline_events', eventCount),
    nextIds('follow_ups', followUpCount),
  ]);
  if (counter?.version !== configuration.version) throw new Retry('configuration');

  const existing = new Map(incidents.map((incident) => [incident.externalId ?? '', incident]));
  const stored = await readStored(trx, workspace.id, items, existing);
  const context: PlanContext = { workspace, importer, statuses: configuration.statuses, now };
  const nextEventId = takeFrom(eventIds);
  const nextFollowUpId = takeFrom(followUpIds);
  const nextIncidentId = takeFrom(incidentIds);
  let { last } = counter;
  const planned: Planned[] = [];
  const results = items.map((item, place): ImportResult => {
    try {
      const before = existing.get(item.externalId);
      if (before?.isVisible === false) throw invalidState(`Another incident has the external ID ${item.externalId}`);
      const identity = before ?? { id: nextIncidentId(), number: last + 1 };
      const next = { nextEventId, nextFollowUpId };
      const plan = planItem(item, { before, identity, stored: stored(place), ...next, context });
      if (plan === undefined) return { outcome: 'unchanged', incident: before as Incident };
      checkStorage('addition');
      if (before === undefined) last += 1;
      planned.push(plan);
      return { outcome: before === undefined ? 'created' : 'updated', incident: plan.after };
    } catch (error) {
      return refusalOf(error);
    }
  });
  if (planned.length === 0) return results;

  await addLastEvents(trx, workspace.id, planned);
  const raised = last === counter.last ? [] : [raiseCounter(workspace.id, last)];
  await pipeline(trx, [...raised, ...statementsOf(planned, { author: authorOf(caller), context })]);
  return results;
}

const takeFrom = (rows: readonly { id: number }[]) => {
  const ids = rows.values();
  return () => (ids.next().value as { id: number }).id;
};

/**
 * Reads what incidents that exist have of their items: by place, the events, which changelog entries they lack, and their
 * follow-ups.
 */
async function readStored(
  trx: Knex.Transaction,
  workspaceId: number,
  items: readonly PreparedItem[],
  existing: ReadonlyMap<string, Incident>,
) {
  const idOf = ({ externalId }: PreparedItem) => existing.get(externalId)?.id;
  const events = items.flatMap((item) => {
    const incidentId = idOf(item);
    return incidentId === undefined ? [] : item.events.map((event) => ({ ...event, incidentId }));
  });
  const entries = items.flatMap((item) => {
    const incidentId = idOf(item);
    return incidentId === undefined ? [] : item.changelog.map((entry) => ({ ...entry, incidentId, item }));
  });
  const withFollowUps = items.flatMap((item) => (item.followUps.length === 0 ? [] : (idOf(item) ?? [])));
  const withPostmortem = items.flatMap((item) => (item.postmortem === undefined ? [] : (idOf(item) ?? [])));
  const [storedEvents, missing, storedFollowUps, storedPostmortems] = await pipeline(trx, [
    findEvents(workspaceId, events),
    findMissingEntries(workspaceId, entries),
    findFollowUps(workspaceId, withFollowUps),
    findPostmortems(workspaceId, withPostmortem),
  ]);
  const followUpsOf = Map.groupBy(storedFollowUps, ({ incidentId }) => incidentId);
  const byIncident = Map.groupBy(storedEvents, ({ incidentId }) => incidentId);
  const lacking = new Map(items.map((item) => [item, idOf(item) === undefined ? item.changelog : []] as const));
  for (const { place } of missing.toSorted((a, b) => a.place - b.place)) {
    const entry = entries[place];
    if (entry !== undefined) lacking.set(entry.item, [...(lacking.get(entry.item) ?? []), entry]);
  }
  return (place: number) => {
    const item = items[place] as PreparedItem;
    const ofIncident: readonly StoredEvent[] = byIncident.get(idOf(item) ?? 0) ?? [];
    const followUps = followUpsOf.get(idOf(item) ?? 0) ?? [];
    return {
      events: new Map(ofIncident.map((event) => [event.externalId, event])),
      entries: lacking.get(item) ?? [],
      // What an import made as an export of this workspace had named it comes before the original.
      followUps: new Map(
        followUps
          .toSorted((a, b) => Number(a.externalId !== null) - Number(b.externalId !== null))
          .map((each) => [each.externalId ?? ownIdOf(each.id), each]),
      ),
      followUpCount: followUps.length,
      postmortem: storedPostmortems.find(({ incidentId }) => incidentId === idOf(item)),
    };
  };
}

/** Adds to incidents whose timelines change what comes last in them. */
async function addLastEvents(trx: Knex.Transaction, workspaceId: number, planned: readonly Planned[]): Promise<void> {
  const changed = planned.filter(({ before, events }) => before !== undefined && events.length > 0);
  const ids = changed.map(({ after }) => after.id);
  const except = changed.flatMap(({ events }) => events.map(({ id }) => id));
  const [latest] = changed.length === 0 ? [[]] : await pipeline(trx, [findLatestEvents(workspaceId, ids, except)]);
  const byIncident = new Map(latest.map((event) => [event.incidentId, event]));
  for (const plan of planned) if (plan.events.length > 0) withLastEvent(plan, byIncident.get(plan.after.id));
}

function statementsOf(
  planned: readonly Planned[],
  { author, context: { workspace, now } }: { author: Author; context: PlanContext },
): Statement[] {
  const edit = editOf(author, now);
  const events = planned.flatMap((plan) =>
    plan.events.map((event) => (event.revision === 1 ? event : { ...event, ...edit })),
  );
  const changed = events.filter(({ revision }) => revision > 1).map(({ id }) => id);
  const followUps = planned.flatMap((plan) => plan.followUps);
  const postmortems = planned.flatMap((plan) => plan.postmortem ?? []);
  const rewritten = postmortems.filter(({ revision }) => revision > 1).map(({ incidentId }) => incidentId);
  const values = planned.map(({ after, before, values: changed }) => {
    const by = before === undefined ? { at: after.createdAt, by: after.createdBy } : { at: now, by: author.actor };
    return { incidentId: after.id, values: changed, ...by };
  });
  const entries = planned.flatMap((plan) => entriesOf(plan, author, now));
  return [
    putIncidents(planned.map(({ after }) => after)),
    ...(changed.length > 0 ? [keepEvents(workspace.id, changed)] : []),
    ...(events.length > 0 ? [putEvents(workspace.id, events)] : []),
    ...(followUps.length > 0 ? [putFollowUps(workspace.id, followUps)] : []),
    ...(rewritten.length > 0 ? keepWritten(workspace.id, rewritten) : []),
    ...(postmortems.length > 0 ? [putPostmortems(workspace.id, postmortems)] : []),
    ...valueStatements(workspace.id, values),
    ...(entries.length > 0 ? [insertChangelogEntries(workspace.id, entries)] : []),
    ...countAllReferences(workspace.id, planned),
    insertEvents(planned.map((plan) => importEvent(plan, author, now))),
  ];
}

/** The earlier changes of the item, and those of the import itself: each of its revisions has an entry. */
function entriesOf(
  { before, after, entries, parts }: Planned,
  author: Author,
  now: Instant,
): Omit<ChangelogEntry, 'id'>[] {
  const { id: incidentId, revision } = after;
  const earlier = entries.map((entry) => ({ ...entry, incidentId, revision, isOfParts: false }));
  const { changes } = shortenChanges(before === undefined ? [] : importedChanges(before, after));
  const entryOfImport = importEntry(after, { changes, author, now });
  const ofParts = { ...entryOfImport, changes: shortenChanges(parts).changes, isOfParts: true };
  return [...earlier, entryOfImport, ...(parts.length > 0 ? [ofParts] : [])];
}

export const importEntry = (
  { id: incidentId, revision }: Incident,
  { changes, author, now }: { changes: Change[]; author: Author; now: Instant },
) => ({ incidentId, revision, ...recordedActor(author), changedAt: now, changes, importKey: BY_IMPORT });

/** Of a change of the status, its time follows. */
function importedChanges(before: Incident, after: Incident): Change[] {
  const [from, to] = [before.statusChangedAt, after.statusChangedAt];
  const isOtherTime = before.status === after.status && from !== to;
  return [...changesBetween(before, after), ...(isOtherTime ? [{ field: 'status_changed_at', from, to }] : [])];
}

export const importEvent = (
  { before, after }: Pick<Planned, 'before' | 'after'>,
  author: Author,
  now: Instant,
): NewEvent => ({
  type: 'incident.imported',
  occurredAt: now,
  workspace: author.workspace,
  requestId: author.requestId,
  restricted: after.restricted,
  data: {
    incident: incidentSnapshot(after),
    outcome: before === undefined ? 'created' : 'updated',
    ...publishedActor(author),
  },
});
