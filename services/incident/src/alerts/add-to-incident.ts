import { quotaOf } from '@tocsin/contracts';
import { selectEntry, type Severity } from '../configuration/domain/configuration.ts';
import { incidentInsert } from '../creation/create-incident.ts';
import { insertIncident } from '../creation/store/insert-incident.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { reopen, resolve } from '../incidents/domain/lifecycle.ts';
import { authorOf, creatorOf } from '../incidents/save-incident.ts';
import { bytesOf } from '../storage/domain/storage-quota.ts';
import { newTimelineEvent, textsOf } from '../timeline/domain/timeline-event.ts';
import { saveTimeline } from '../timeline/save-timeline.ts';
import { timelineStore } from '../timeline/store/timeline-store.ts';
import { type Alert, KEPT } from './domain/alert.ts';
import { shorten } from './domain/body-reader.ts';
import { severityOf } from './domain/severity.ts';
import { noteOf } from './domain/texts.ts';
import { alertsThat, type Handling, isOpenIn, NEW_TARGET, overOf, type Plan, type Target } from './handling.ts';
import type { AlertIncident, AlertSource, Outcome } from './store/alert-store.ts';

/** Declares an incident for a group, and adds the group to it. */
export async function declareFor(handling: Handling, source: AlertSource, plan: Plan): Promise<AlertSource> {
  const { trx, command, configuration, values, services, storage, now } = handling;
  const [first] = alertsThat([plan], 'started') as [Alert];
  const status = selectEntry(configuration.statuses, undefined, 'status');
  const severity = severityFor(handling, [plan]) ?? selectEntry(configuration.severities, undefined, 'severity');
  const service = services.get(first.service.normalize('NFC'));
  const began = alertsThat([plan], 'started')
    .flatMap(({ startedAt }) => startedAt ?? [])
    .sort();
  const insert = incidentInsert({
    caller: command,
    properties: {
      title: shorten(plan.group.title || first.name || plan.group.identity, KEPT.name).trim() || 'Alert',
      status: status.key,
      severity: severity.key,
      severityMode: 'auto',
      service: service?.slug ?? shorten(first.service.normalize('NFC'), MAX_SERVICE),
      teamId: service?.ownerTeamId ?? null,
      impactStartedAt: began[0] ?? null,
      isUnhandledAlert: true,
    },
    statusIsTerminal: status.isTerminal,
    values,
    configurationVersion: configuration.version,
    now,
    storage,
  });
  const incident = { ...insert.incident, ...(await insertIncident(trx, insert)) };
  await addTo(handling, { incident, alerts: NEW_TARGET }, [plan], { outcome: 'declared' });
  return { ...source, declared: source.declared + 1, lastIncidentId: incident.id, groups: 1 };
}

/** Characters of the service of an incident. */
const MAX_SERVICE = 128;

/** The most severe one that alerts which begin to fire name. */
function severityFor({ configuration }: Handling, plans: readonly Plan[]): Severity | undefined {
  const words = new Set(alertsThat(plans, 'started').map(({ severity }) => severity));
  return [...words]
    .flatMap((word) => severityOf(word, configuration.severities) ?? [])
    .sort((a, b) => a.order - b.order)[0];
}

/** Adds timeline events about the changes of groups to an incident, and ends or reopens it if they do. */
export async function addTo(
  handling: Handling,
  { incident: before, alerts }: Target,
  plans: readonly Plan[],
  given: { change?: Partial<Incident>; outcome?: Outcome } = {},
): Promise<void> {
  const { trx, store, command, configuration, storage, now, keyName } = handling;
  const { principal, options } = command;
  const started = alertsThat(plans, 'started');
  const ended = alertsThat(plans, 'ended');
  const over = overOf(plans);
  const moment = { statuses: configuration.statuses, now };
  const isOpen = isOpenIn(configuration, before);
  const firing = plans.reduce(
    (sum, { stored, delta }) =>
      sum + delta + (stored !== undefined && stored.incidentId !== before.id ? stored.firing : 0),
    alerts.firing,
  );
  const change: Partial<Incident> = { ...given.change };
  const state: AlertIncident = { ...alerts, resolvedRevision: null };
  let outcome: Outcome = given.outcome ?? (started.length === 0 && ended.length + over > 0 ? 'ended' : 'added');
  if (started.length > 0) {
    state.endedAt = null;
    state.recoveredAt = null;
    // What an earlier end has said is no longer true.
    if (before.recoveredAt !== null && before.recoveredAt === alerts.recoveredAt) change.recoveredAt = null;
    const severity = severityFor(handling, plans);
    const present = configuration.severities.find(({ key }) => key === before.severity);
    if (before.isUnhandledAlert && severity !== undefined && severity.order < (present?.order ?? Infinity))
      change.severity = severity.key;
    if (!isOpen && given.outcome === undefined) {
      Object.assign(change, reopen(before, moment));
      outcome = 'reopened';
    }
  }
  const isEnd = firing <= 0 && ended.length + over > 0;
  let isResolved = false;
  if (isEnd) {
    const end =
      ended
        .flatMap(({ endedAt }) => endedAt ?? [])
        .sort()
        .at(-1) ?? now;
    state.endedAt = now;
    if ((change.recoveredAt === undefined ? before.recoveredAt : change.recoveredAt) === null) {
      change.recoveredAt = end < (before.impactStartedAt ?? '') ? now : end;
      state.recoveredAt = change.recoveredAt;
    }
    isResolved = options.onEnd === 'resolve' && before.isUnhandledAlert && (isOpen || outcome === 'reopened');
    if (isResolved) Object.assign(change, resolve({ ...before, ...change }, moment));
  }

  const isArchived = before.archivedAt !== null;
  const counted = { keyName, now };
  const acknowledged = alertsThat(plans, 'acknowledged');
  const notes = [
    ...(started.length > 0 ? [noteOf('started', started, { ...counted, count: started.length })] : []),
    ...(acknowledged.length > 0
      ? [noteOf('acknowledged', acknowledged, { ...counted, count: acknowledged.length })]
      : []),
    ...(ended.length + over > 0 ? [noteOf('ended', ended, { ...counted, count: ended.length + over })] : []),
  ];
  const quota = quotaOf(principal.workspace, 'timeline_events');
  const room = isArchived ? 0 : quota === null ? notes.length : Math.max(0, quota - before.eventCount);
  const kept = notes.slice(0, room);
  const reason = isArchived ? 'The incident is archived' : kept.length < notes.length ? 'The timeline is full' : '';
  let after = before;
  if (!isArchived) {
    const events = kept.map(({ sourceRef, evidenceLinks, ...properties }) => ({
      ...newTimelineEvent({
        incidentId: before.id,
        source: 'alert',
        ...creatorOf(command),
        properties: { ...properties, type: 'alert' },
      }),
      sourceRef,
      evidenceLinks,
    }));
    const bytes = events.reduce((sum, event) => sum + bytesOf([...textsOf(event), event.evidenceLinks]), 0);
    storage.check({ kind: 'addition', growth: bytes });
    storage.add({ bytes });
    const inserted = events.length === 0 ? [] : await timelineStore(trx, principal.workspace.id).insertAll(events);
    const timeline = inserted.map((event) => ({ type: 'timeline_event.created' as const, event }));
    after = await saveTimeline({ trx, author: authorOf(command), before, change, timeline, now, byAlert: true });
  }
  if (isResolved) state.resolvedRevision = after.revision;
  await store.saveIncident(before.id, state);
  for (const plan of plans) Object.assign(plan, { incidentId: before.id, outcome, reason });
}
