import { fold } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import type { Instant } from '@tocsin/runtime';
import { type Configuration, selectEntry } from '../configuration/domain/configuration.ts';
import { incidentInsert } from '../creation/create-incident.ts';
import { insertIncident } from '../creation/store/insert-incident.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { reopen, resolve } from '../incidents/domain/lifecycle.ts';
import type { Attempt } from '../incidents/run-command.ts';
import type { Change } from '../incidents/domain/changes.ts';
import { authorOf, changeIncident, creatorOf, save } from '../incidents/save-incident.ts';
import { changeOf, MAX_OF_A_TYPE, mayName } from '../relations/domain/relation.ts';
import { insertRelation, nextRelation } from '../relations/store/relation-store.ts';
import type { MonitoredService } from '../replicas/store/replica-reads.ts';
import { newTimelineEvent } from '../timeline/domain/timeline-event.ts';
import { changeTimeline } from '../timeline/change-timeline.ts';
import { insertAttachments } from '../timeline/store/attachment-store.ts';
import { timelineStore } from '../timeline/store/timeline-store.ts';
import type { FieldValue } from '../values/domain/values.ts';
import { type AlertOptions, type HeardGroup, KEPT, type LeftOut } from './domain/alert.ts';
import { shorten } from './domain/body-reader.ts';
import type { Decision } from './domain/decision.ts';
import type { Act, Ref } from './domain/effects.ts';
import type { AlertIncident } from './domain/known.ts';
import { type AlertNote, noteOf, stormTitle, timeText } from './domain/texts.ts';
import { alertIncidentStore } from './store/alert-incident-store.ts';

/** What a decision is applied with. */
export interface Applying {
  trx: Knex.Transaction;
  caller: Caller;
  options: AlertOptions;
  configuration: Configuration;
  values: readonly FieldValue[];
  /** By what the alerts call them. */
  services: ReadonlyMap<string, MonitoredService>;
  /** Who is on call, by the IDs of teams. */
  leads: ReadonlyMap<number | null, string>;
  checkStorage: Attempt['checkStorage'];
  now: Instant;
  keyName: string;
  /** Those that the decision touches, locked. */
  locked: ReadonlyMap<number, Incident>;
}

type Of<Name extends Act['do']> = Extract<Act, { do: Name }>;

/** Does what was decided. Returns the incidents that it concerns, as they are then, and what has no place in each. */
export async function applyDecision(applying: Applying, { effects }: Decision) {
  const leftOut = new Map<Ref, LeftOut[]>();
  const incidents = new Map<Ref, Incident>(applying.locked);
  const { keyName, now } = applying;
  const telling = { keyName, now, timeZone: applying.configuration.timeZone };
  for (const { incident: ref, acts } of effects) {
    const declaration = acts.find((act): act is Of<'declare'> => act.do === 'declare');
    const related = incidents.get(declaration?.related?.id ?? 0);
    const before = declaration === undefined ? incidents.get(ref) : await declare(applying, declaration, related);
    if (before === undefined) throw new Error(`the incident ${ref} is not locked`);
    const relation = related && (await relate(applying, before, related));
    if (relation !== undefined) incidents.set(relation.related.id, relation.related);
    const closed = declaration?.related ?? null;
    const notes = acts
      .filter((act) => act.do === 'note')
      .map((note, index) => noteOf(note, { ...telling, closed: index === 0 ? closed : null }));
    leftOut.set(ref, [...unknownSeverity(declaration), ...notes.flatMap((note) => note.leftOut)]);
    incidents.set(ref, await applyTo(applying, before, { acts, notes, with: relation?.with }));
  }
  return { incidents, leftOut };
}

/** Characters of the service of an incident. */
const MAX_SERVICE = 128;
/** Characters of a severity that is not known. */
const NAMED = 100;

/** @param related an earlier incident of the alert: the new one is for those who may see that */
async function declare(
  applying: Applying,
  { group, alerts, severity: severityKey }: Of<'declare'>,
  related: Incident | undefined,
): Promise<Incident> {
  const { trx, caller, options, configuration, values, services, leads, now } = applying;
  const [first] = alerts;
  const { name = '', service: called = '' } = first ?? {};
  const named = called.normalize('NFC');
  const status = selectEntry(configuration.statuses, undefined, 'status');
  const severity = selectEntry(configuration.severities, severityKey ?? undefined, 'severity');
  const service = services.get(fold(named));
  const teamId = service?.ownerTeamId ?? null;
  const lead = leads.get(teamId);
  const insert = incidentInsert({
    caller,
    properties: {
      title: shorten(titleOf(group, name, configuration.timeZone), KEPT.name).trim() || 'Alert',
      status: status.key,
      severity: severity.key,
      severityMode: 'auto',
      restricted: options.restricted || severity.restricted === true || related?.restricted === true,
      ...(related?.restricted === true && { visibleTo: related.visibleTo }),
      service: service?.slug ?? shorten(named, MAX_SERVICE),
      teamId,
      ...(lead !== undefined && { incidentManager: lead }),
      impactStartedAt: alerts.flatMap(({ startedAt }) => startedAt ?? []).sort()[0] ?? null,
      isUnhandledAlert: true,
    },
    statusIsTerminal: status.isTerminal,
    values,
    configurationVersion: configuration.version,
    now,
  });
  return { ...insert.incident, ...(await insertIncident(trx, insert)) };
}

function titleOf({ title, identity, heardAt }: HeardGroup, name: string, timeZone: string): string {
  const text = title || name || identity;
  return heardAt === undefined ? text : `${text} since ${timeText(heardAt, timeZone)}`;
}

/** A severity that a monitor names must not become the default one unsaid. */
function unknownSeverity(declaration: Of<'declare'> | undefined): LeftOut[] {
  const word = declaration?.alerts.find((alert) => alert.severity !== '')?.severity;
  if (declaration === undefined || declaration.severity !== null || word === undefined) return [];
  return [
    { field: 'severity', reason: `${shorten(word, NAMED)} is no severity here: the incident has the default one` },
  ];
}

/**
 * Relates a new incident to the one that a person has closed, unless that one is archived and so read-only, or has as many
 * relations as it may have. Returns what is saved with the new one.
 */
async function relate({ trx, caller, now }: Applying, incident: Incident, related: Incident) {
  if (related.archivedAt !== null) return undefined;
  const pair = { incidentId: incident.id, type: 'related' as const, relatedId: related.id };
  const [next] = await query(trx, nextRelation(incident.workspaceId, pair));
  if (next === undefined || next.ofInverse >= MAX_OF_A_TYPE) return undefined;
  const relation = { id: next.id, createdAt: now, ...creatorOf(caller) };
  const others = mayName(related, incident) ? [changeOf('related', incident, 'added')] : [];
  const changed = changeIncident({ author: authorOf(caller), before: related, change: {}, now, byAlert: true, others });
  return {
    related: await save(trx, changed),
    with: {
      others: [changeOf('related', related, 'added')],
      also: [insertRelation(incident.workspaceId, pair, relation)],
    },
  };
}

interface Applied {
  acts: readonly Act[];
  notes: readonly AlertNote[];
  with: { others: Change[]; also: Statement[] } | undefined;
}

/** Changes an incident, and adds to its timeline: one revision. */
async function applyTo(applying: Applying, before: Incident, { acts, notes, with: more }: Applied): Promise<Incident> {
  const { trx, caller, configuration, now, keyName } = applying;
  const moment = { statuses: configuration.statuses, now };
  const change: Partial<Incident> = {};
  let state: AlertIncident | undefined;
  let isResolved = false;
  for (const act of acts) {
    if (act.do === 'reopen') Object.assign(change, reopen({ ...before, ...change }, moment));
    if (act.do === 'raise') change.severity = act.severity;
    if (act.do === 'collect') change.title = stormTitle(act.groups, keyName);
    if (act.do === 'recover') change.recoveredAt = act.at;
    if (act.do === 'resolve') Object.assign(change, resolve({ ...before, ...change }, moment));
    if (act.do === 'keep') ({ state } = act);
    isResolved ||= act.do === 'resolve';
  }
  const timeline = await addEvents(applying, before, notes);
  const author = authorOf(caller);
  const others = more?.others ?? [];
  const changed = changeTimeline({ author, before, change, timeline, now, byAlert: true, others });
  const after = await save(trx, changed, more?.also);
  if (state === undefined) return after;
  // What alerts have resolved stays so if they add to it.
  isResolved ||= state.resolvedRevision === before.revision;
  const kept = { ...state, ...(isResolved && { resolvedRevision: after.revision }) };
  await alertIncidentStore(trx, caller.principal.workspace.id).save(before.id, kept);
  return after;
}

async function addEvents({ trx, caller, checkStorage, now }: Applying, { id }: Incident, notes: readonly AlertNote[]) {
  if (notes.length === 0) return [];
  const events = notes.map(({ sourceRef, evidenceLinks, startedAt, title, body }) => ({
    ...newTimelineEvent({
      incidentId: id,
      source: 'alert',
      ...creatorOf(caller),
      properties: { startedAt, title, body, type: 'alert' },
    }),
    ...{ sourceRef, evidenceLinks },
  }));
  checkStorage('alert');
  const workspaceId = caller.principal.workspace.id;
  const inserted = await timelineStore(trx, workspaceId).insertAll(events);
  const images = inserted.flatMap((event, index) =>
    (notes[index]?.images ?? []).map((image) => ({
      ...image,
      ...{ eventId: event.id, storageKey: null, sizeBytes: 0, createdAt: now, createdBy: event.createdBy },
    })),
  );
  await insertAttachments(trx, workspaceId, images);
  return inserted.map((event) => ({ type: 'timeline_event.created' as const, event }));
}
