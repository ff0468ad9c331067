import { serviceUnavailable } from '@tocsin/http';
import { insertEvents, type NewEvent } from '@tocsin/messaging';
import { brokenConstraint, commitPipeline, type Knex, type PreparedStatement, runPipeline } from '@tocsin/postgres';
import type { Caller } from '@tocsin/resources';
import type { Instant } from '@tocsin/runtime';
import type { Configuration } from '../configuration/domain/configuration.ts';
import { ConfigurationChanged } from '../configuration/store/configuration-store.ts';
import type { Dependencies } from '../dependencies.ts';
import { type Author, authorOf, recordedActor } from '../incidents/author.ts';
import { changesBetween } from '../incidents/domain/changes.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { shortenChanges } from '../incidents/domain/large-changes.ts';
import { incidentSnapshot } from '../incidents/domain/snapshot.ts';
import { type ChangelogEntry, insertChangelogEntries } from '../incidents/store/changelog-store.ts';
import { EXTERNAL_ID_INDEX } from '../incidents/store/incident-store.ts';
import { countAllReferences } from '../incidents/store/service-references.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { textsOf } from '../timeline/domain/timeline-quota.ts';
import { limitGrams, toRecords } from '../values/store/value-row.ts';
import { type ImportResult, refusalOf } from './domain/item.ts';
import { type PlanContext, type Planned, planItem, type PreparedItem, withLastEvent } from './domain/plan.ts';
import {
  findEvents,
  findLatestEvents,
  findMissingEntries,
  lockByExternalIds,
  lockCounter,
  nextIds,
  putEvents,
  putIncidents,
  putValues,
  raiseCounter,
  removeValues,
  type StoredEvent,
} from './store/import-store.ts';

interface WriteOptions {
  caller: Caller;
  /** With different external IDs. */
  items: readonly PreparedItem[];
  configuration: Configuration;
  now: Instant;
}

/** What a transaction has done. */
interface Written {
  results: ImportResult[];
  bytes: number;
}

/**
 * Writes items in one transaction with a few statements, whatever their number. Everything commits but what is refused.
 * @throws ConfigurationChanged
 */
export async function writeItems(dependencies: Dependencies, options: WriteOptions): Promise<ImportResult[]> {
  const { workspace } = options.caller.principal;
  const { results, bytes } = await dependencies.database.transaction(async (trx) => write(dependencies, trx, options));
  dependencies.storage.add(workspace.id, { bytes });
  dependencies.wakeRelay();
  return results;
}

async function write(dependencies: Dependencies, trx: Knex.Transaction, options: WriteOptions): Promise<Written> {
  const { caller, items, configuration, now } = options;
  const { workspace, user_id: importer } = caller.principal;
  const externalIds = items.map(({ externalId }) => externalId);
  const eventCount = items.reduce((sum, { events }) => sum + events.length, 0);
  const [[counter], incidents, incidentIds, eventIds] = await runPipeline(trx, [
    lockCounter(workspace.id),
    lockByExternalIds(workspace.id, externalIds),
    nextIds('incidents', items.length),
    nextIds('timeline_events', eventCount),
  ]);
  if (counter?.version !== configuration.version) throw new ConfigurationChanged();

  const existing = new Map(incidents.map((incident) => [incident.externalId ?? '', incident]));
  const stored = await readStored(trx, items, existing);
  const context: PlanContext = { workspace, importer, statuses: configuration.statuses, now };
  const nextEventId = takeFrom(eventIds);
  const nextIncidentId = takeFrom(incidentIds);
  let { last } = counter;
  const planned: Planned[] = [];
  const results = items.map((item, place): ImportResult => {
    try {
      const before = existing.get(item.externalId);
      const identity = before ?? { id: nextIncidentId(), number: last + 1 };
      const plan = planItem(item, { before, identity, stored: stored(place), nextEventId, context });
      if (plan === undefined) return { outcome: 'unchanged', incident: before as Incident };
      dependencies.storage.check(workspace, { kind: 'addition', growth: growthOf(plan) });
      if (before === undefined) last += 1;
      planned.push(plan);
      return { outcome: before === undefined ? 'created' : 'updated', incident: plan.after };
    } catch (error) {
      return refusalOf(error);
    }
  });
  if (planned.length === 0) return { results, bytes: 0 };

  await addLastEvents(trx, planned);
  const raised = last === counter.last ? [] : [raiseCounter(workspace.id, last)];
  await commitPipeline(trx, [...raised, ...statementsOf(planned, { author: authorOf(caller), context })]);
  return { results, bytes: planned.reduce((sum, plan) => sum + Math.max(0, growthOf(plan)), 0) };
}

const takeFrom = (rows: readonly { id: number }[]) => {
  const ids = rows.values();
  return () => (ids.next().value as { id: number }).id;
};

/** About the bytes that are stored in addition. */
const growthOf = ({ before, after, events, entries }: Planned) => {
  const own = ({ title, impactSummary, customFields }: Incident) => bytesOf([title, impactSummary, customFields]);
  return own(after) - (before === undefined ? 0 : own(before)) + bytesOf(events.map(textsOf)) + bytesOf(entries);
};

/** Reads what incidents that exist have of their items: by place, the events, and which changelog entries they lack. */
async function readStored(
  trx: Knex.Transaction,
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
  const [storedEvents, missing] = await runPipeline(trx, [findEvents(events), findMissingEntries(entries)]);
  const byIncident = Map.groupBy(storedEvents, ({ incidentId }) => incidentId);
  const lacking = new Map(items.map((item) => [item, idOf(item) === undefined ? item.changelog : []] as const));
  for (const { place } of missing.toSorted((a, b) => a.place - b.place)) {
    const entry = entries[place];
    if (entry !== undefined) lacking.set(entry.item, [...(lacking.get(entry.item) ?? []), entry]);
  }
  return (place: number) => {
    const item = items[place] as PreparedItem;
    const ofIncident: readonly StoredEvent[] = byIncident.get(idOf(item) ?? 0) ?? [];
    return { events: new Map(ofIncident.map((event) => [event.externalId, event])), entries: lacking.get(item) ?? [] };
  };
}

/** Adds to incidents whose timelines change what comes last in them. */
async function addLastEvents(trx: Knex.Transaction, planned: readonly Planned[]): Promise<void> {
  const changed = planned.filter(({ before, events }) => before !== undefined && events.length > 0);
  const ids = changed.map(({ after }) => after.id);
  const except = changed.flatMap(({ events }) => events.map(({ id }) => id));
  const [latest] = changed.length === 0 ? [[]] : await runPipeline(trx, [findLatestEvents(ids, except)]);
  const byIncident = new Map(latest.map((event) => [event.incidentId, event]));
  for (const plan of planned) if (plan.events.length > 0) withLastEvent(plan, byIncident.get(plan.after.id));
}

function statementsOf(
  planned: readonly Planned[],
  { author, context: { workspace, now } }: { author: Author; context: PlanContext },
): PreparedStatement[] {
  const events = planned.flatMap((plan) => plan.events);
  const set = planned.flatMap(({ after, before, values }) => {
    const by = before === undefined ? { at: after.createdAt, by: after.createdBy } : { at: now, by: author.actor };
    const records = toRecords(
      values.filter(({ value }) => value !== null),
      by,
    );
    return records.map((record) => ({ ...record, workspace_id: workspace.id, incident_id: after.id }));
  });
  limitGrams(set);
  const removed = planned.flatMap(({ after, values }) =>
    values.filter(({ value }) => value === null).map(({ field }) => ({ incidentId: after.id, fieldId: field.id })),
  );
  const entries = planned.flatMap((plan) => entriesOf(plan, author, now));
  return [
    putIncidents(planned.map(({ after }) => after)),
    ...(events.length > 0 ? [putEvents(workspace.id, events)] : []),
    ...(set.length > 0 ? [putValues(set)] : []),
    ...(removed.length > 0 ? [removeValues(removed)] : []),
    ...(entries.length > 0 ? [insertChangelogEntries(entries)] : []),
    ...countAllReferences(workspace.id, planned),
    insertEvents(planned.map((plan) => eventOf(plan, author, now))),
  ];
}

/** The earlier changes of the item, and what the import itself changes of an incident. */
function entriesOf({ before, after, entries }: Planned, author: Author, now: Instant): Omit<ChangelogEntry, 'id'>[] {
  const { id: incidentId, revision } = after;
  const earlier = entries.map(({ changedAt, actor, changes }) => ({
    ...{ incidentId, revision, changedAt, actor, changes, keyName: null, keyPrefix: null },
  }));
  const { changes } = shortenChanges(before === undefined ? [] : changesBetween(before, after));
  if (changes.length === 0) return earlier;
  return [...earlier, { incidentId, revision, ...recordedActor(author), changedAt: now, changes }];
}

const eventOf = ({ before, after }: Planned, author: Author, now: Instant): NewEvent => ({
  type: 'incident.imported',
  occurredAt: now,
  workspace: author.workspace,
  requestId: author.requestId,
  data: { incident: incidentSnapshot(after), outcome: before === undefined ? 'created' : 'updated' },
});

/** Attempts of a write of which another request gives an external ID to an incident at the same time. */
const MAX_ATTEMPTS = 3;

/** Runs an import again whose incident has come into being meanwhile: then it changes that. */
export async function withFreeExternalIds<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (brokenConstraint(error) !== EXTERNAL_ID_INDEX) throw error;
    }
  }
  throw serviceUnavailable('The external IDs are changing; try again');
}
