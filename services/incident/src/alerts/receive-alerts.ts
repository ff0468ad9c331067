/**
 * `alerts` takes notifications of monitors, and declares, changes and resolves incidents for them (contract: Alerts)
 * (ADR 98). `http/` and `domain/` read the form of each monitor, and `domain/decision.ts` decides without the database
 * what follows from what is known and what was heard. The notifications of a monitor run one after the other: by a
 * lease in this process, and by the row of the monitor, which the transaction locks first. It reads what is known,
 * decides, locks the incidents that the decision touches, and decides again, until it touches no other. Incidents,
 * timelines, what is known of the monitor and the record of the notification commit together, and the response comes
 * after that: a crash leaves all or nothing, and a repetition changes nothing. `overdue.ts` looks for missed heartbeats
 * and silence, and acts by the same functions.
 */
import { setImmediate } from 'node:timers/promises';
import { quotaOf } from '@tocsin/schemas';
import { invalidState, jsonEqual, throttleByWorkspace } from '@tocsin/http';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import { type FairQueue, type Instant, mapInParts } from '@tocsin/runtime';
import { checkLocked, lockConfiguration } from '../configuration/store/configuration-store.ts';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { type OnCallLeadDependencies, onCallLeads } from '../incidents/on-call-leads.ts';
import { lockIncidents } from '../incidents/store/incident-store.ts';
import { replicatedServices } from '../replicas/store/replica-reads.ts';
import { initialValues } from '../values/domain/values.ts';
import { applyDecision } from './apply-decision.ts';
import { type AlertOptions, type Format, heardGroup, KEPT, type LeftOut, type Notification } from './domain/alert.ts';
import { shorten } from './domain/body-reader.ts';
import { type Answer, type Decision, decide, type Outcome } from './domain/decision.ts';
import type { Ref } from './domain/effects.ts';
import { type AlertOutcome, comparison } from './domain/firings.ts';
import { type Heard, isOpen, type Known, type KnownIncident, type Member } from './domain/known.ts';
import { reasonOf } from './domain/texts.ts';
import { alertIncidentStore, incidentNumbers } from './store/alert-incident-store.ts';
import { EVERY_RESTRICTED } from '../visibility/store/viewer.ts';
import { alertStore, type StoredGroup } from './store/alert-store.ts';
import { quietStore } from './store/overdue-store.ts';
import { addRecords, type NotificationRecord } from './store/record-store.ts';
import { type AlertSource, keepSender, type Monitor, sourceStore } from './store/source-store.ts';

export interface ReceiveCommand extends Caller {
  format: Format;
  notification: Notification;
  options: AlertOptions;
  /** Whether it is still to be handled, once the monitor is locked; if not, there is no result and no record. */
  isDue?: (trx: Knex.Transaction, now: Instant) => Promise<boolean>;
}

/** What has become of a group of a notification. */
export interface GroupResult {
  identity: string;
  outcome: Outcome;
  /** Why something was not kept; empty: all was. */
  reason: string;
  incident: { id: number; number: number } | null;
  /** With `closed_by_person`: when it is declared again. */
  remindAt: Instant | undefined;
  alerts: readonly { id: string; outcome: AlertOutcome }[];
}

interface Received {
  results: GroupResult[];
  /** What was read and has no place in the incidents. */
  leftOut: readonly LeftOut[];
}

/** Alerts that a key has under way at most, firing or ended: those that ended are forgotten first. */
const MAX_MEMBERS = 20_000;
/** Notifications of more alerts take time to handle, so those of a workspace take turns. */
const LARGE = 100;
/** Milliseconds after which a group whose alerts go on firing is marked as known again. */
const REFRESH_AFTER = 86_400_000;
const MINUTE = 60_000;

export interface AlertDependencies extends CommandDependencies, Pick<OnCallLeadDependencies, 'owners'> {
  /** One lease for each key: notifications that wait for each other hold no connection. */
  alertLeases: FairQueue<string>;
}

/**
 * Takes a notification of a monitor (contract: Alerts): all of it commits, or nothing. The notifications of a monitor are
 * handled one after the other, so that two that come at once declare one incident.
 * @throws DomainError `invalid_resource_state` for a quota
 */
export async function receiveAlerts(dependencies: AlertDependencies, command: ReceiveCommand): Promise<Received> {
  const { workspace } = command.principal;
  const take = async () =>
    dependencies.alertLeases.run(`${workspace.id}/${senderOf(command).monitorId}`, async () =>
      takeAlerts(dependencies, command),
    );
  return isLarge(command.notification) ? throttleByWorkspace(`alerts of ${workspace.id}`, take) : take();
}

const isLarge = ({ groups }: Notification) => groups.reduce((sum, { alerts }) => sum + alerts.length, 0) > LARGE;

/** Between two steps with a large notification, each of which takes milliseconds, other requests have their turn. */
const turnsOf = (notification: Notification) =>
  isLarge(notification) ? async () => setImmediate() : async () => undefined;

/** A key that another one replaced is the same monitor. */
export const senderOf = ({
  principal: { workspace, key_id: keyId, first_key_id: monitorId = keyId },
}: Pick<Caller, 'principal'>) => ({
  ...{ workspaceId: workspace.id, keyId, monitorId },
});

async function takeAlerts(dependencies: AlertDependencies, command: ReceiveCommand): Promise<Received> {
  const { database, replicas, clock } = dependencies;
  const { principal, notification, options } = command;
  const { workspace } = principal;
  const keyName = principal.key?.name ?? `key ${principal.key_id}`;
  const turn = turnsOf(notification);
  const sender = senderOf(command);
  const groups = await mapInParts(notification.groups, heardGroup);
  return runCommand(dependencies, {
    workspace,
    replicas: ['catalog', 'custom_field'],
    prepares: async ({ readConfiguration, freshness }) => {
      const configuration = await readConfiguration();
      const services = await replicatedServices(database, workspace.id).findMonitored(servicesOf(notification));
      const teamIds = [...services.values()].map(({ ownerTeamId }) => ownerTeamId);
      return {
        configuration,
        services,
        values: initialValues(await replicas.fields.get(workspace.id, freshness.get('custom_field')?.version), [], {
          required: false,
        }),
        leads: await onCallLeads(dependencies, { workspace, configuration, teamIds }),
      };
    },
    reads: async (trx, { prepared: { configuration } }) => {
      const now = clock.now();
      const eventQuota = quotaOf(workspace, 'timeline_events');
      const heard: Heard = { groups, options, eventQuota, now, ...configuration };
      const source = currentMinute(await sourceStore(trx, sender).lock(), now);
      if ((await command.isDue?.(trx, now)) === false) return undefined;
      // What is to be locked depends on the decision.
      const decided = await decideLocked({ trx, monitor: sender, source, heard, configuration, turn });
      return { ...decided, source, now };
    },
    decides: (read, { prepared, checkStorage }) => {
      if (read === undefined) return { stores: [], answer: () => ({ results: [], leftOut: [] }) };
      const { decision, stored, locked, source, now } = read;
      return {
        stores: async (trx) => {
          const applying = { trx, caller: command, options, ...prepared, checkStorage, now, keyName, locked };
          const { incidents, leftOut } = await applyDecision(applying, decision);
          const idOf = (ref: Ref | null) => (ref === null || ref > 0 ? ref : (incidents.get(ref)?.id ?? null));
          await turn();
          await saveKnown({ trx, monitor: sender, source, stored, decision, idOf, now });
          if (command.isDue === undefined) await keepQuiet(trx, command, decision, { source, now });
          await turn();
          const answers = decision.answers.map((answer) => ({
            ...answer,
            incidentId: idOf(answer.incident),
            why:
              reasonOf(answer, stored.incidents.get(answer.incident ?? 0), prepared.configuration.timeZone) ||
              textOf(leftOut.get(answer.incident ?? 0)),
          }));
          await turn();
          await addRecords(trx, sender, recordsOf(command, answers, now));
          const ids = new Set(answers.flatMap(({ incidentId }) => incidentId ?? []));
          const numbers = await incidentNumbers(trx, sender.workspaceId, [...ids]);
          return { results: answers.map((answer) => resultOf(answer, numbers)), leftOut: [...leftOut.values()].flat() };
        },
      };
    },
  });
}

/** For the record, which names what the incident lacks. */
const textOf = (leftOut: readonly LeftOut[] = []) =>
  shorten(leftOut.map(({ field, reason }) => `${field}: ${reason}`).join('; '), KEPT.identity);

const servicesOf = ({ groups }: Notification): string[] => [
  ...new Set(groups.flatMap(({ alerts }) => alerts.map(({ service }) => service))),
];

/** The monitor as it is in this minute: the incidents of an earlier one do not count. */
function currentMinute(source: AlertSource, now: Instant): AlertSource {
  const minute = new Date(Math.floor(Date.parse(now) / MINUTE) * MINUTE).toISOString();
  return source.minute === minute ? source : { ...source, minute, declared: 0, lastIncidentId: null, groups: 0 };
}

/** What is stored of what a decision asks for. */
interface Stored extends Known {
  groups: ReadonlyMap<string, StoredGroup>;
  incidents: Map<number, KnownIncident>;
}

interface Deciding {
  trx: Knex.Transaction;
  monitor: Monitor;
  source: AlertSource;
  heard: Heard;
  configuration: Configuration;
  turn: () => Promise<void>;
}

/**
 * Decides on what is known, and again once the incidents that this depends on are locked. Most notifications say what is known
 * already, and lock none.
 */
async function decideLocked({ trx, monitor, source, heard, configuration, turn }: Deciding) {
  const { workspaceId } = monitor;
  const store = alertIncidentStore(trx, workspaceId);
  const { groups, members } = await alertStore(trx, monitor).find(heard.groups);
  const terminal = heard.statuses.flatMap(({ key, isTerminal }) => (isTerminal ? key : []));
  const ids = [
    ...new Set([...groups.values(), { incidentId: source.lastIncidentId }].flatMap((each) => each.incidentId ?? [])),
  ];
  const incidents = await store.find(ids, terminal);
  const duplicates = [...incidents.values()].filter((each) => each.isDuplicate && !isOpen(each, heard));
  const originals = await store.findOriginals(
    duplicates.map(({ id }) => id),
    terminal,
  );
  const open = [...originals.values()].filter((id) => !incidents.has(id));
  for (const [id, original] of await store.find(open, terminal)) incidents.set(id, original);
  const stored: Stored = { groups, members, originals, incidents, minute: source };
  const locked = new Map<number, Incident>();
  const compared = comparison(members, heard);
  const changes = { groups: await mapInParts(heard.groups, compared.changeOf), members: compared.members };
  await turn();
  for (;;) {
    const decision = decide(changes, stored, heard);
    const missing = [...decision.touched].filter((id) => !locked.has(id));
    await turn();
    if (missing.length === 0) return { decision, stored, locked };
    const [version, rows] = await pipeline(trx, [
      lockConfiguration(workspaceId),
      lockIncidents(workspaceId, missing, EVERY_RESTRICTED),
    ]);
    checkLocked(version, configuration);
    for (const row of rows) locked.set(row.id, row);
    for (const [id, incident] of await store.find(missing, terminal)) stored.incidents.set(id, incident);
  }
}

/** Groups whose alerts fire must be heard of again in time, if their monitor asks for it. */
async function keepQuiet(
  trx: Knex.Transaction,
  command: ReceiveCommand,
  decision: Decision,
  { source, now }: { source: AlertSource; now: Instant },
): Promise<void> {
  const { principal, format, options } = command;
  const { quietAfter: after } = options;
  // It has never asked for it.
  if (after === null && !source.hasSender) return;
  const sender = senderOf(command);
  if (after !== null) await query(trx, keepSender(sender, principal));
  const identities = new Map(decision.answers.map(({ group }) => [group.digest, group.identity]));
  const groups = decision.groups.flatMap(({ digest, firing }) => {
    const identity = identities.get(digest);
    // Of a group that its alerts have left nothing was heard.
    if (identity === undefined && firing > 0) return [];
    const isWatched = after !== null && firing > 0 && identity !== undefined;
    const kept = { identity: shorten(identity ?? '', KEPT.identity), format, heardAt: now, options };
    return [{ digest, quiet: isWatched ? { ...kept, after } : null }];
  });
  await quietStore(trx, sender).keep(groups, now, after ?? 0);
}

interface Saving {
  trx: Knex.Transaction;
  monitor: Monitor;
  source: AlertSource;
  stored: Stored;
  decision: Decision;
  idOf: (ref: Ref | null) => number | null;
  now: Instant;
}

/** Stores what is known of the monitor then, if that differs: what most notifications say is known already. */
async function saveKnown({ trx, monitor, source, stored, decision, idOf, now }: Saving): Promise<void> {
  const changed = [...decision.members].filter(([key, member]) => !isSame(stored.members.get(key), member));
  const inChanged = new Set(changed.map(([, { group }]) => group));
  const groups = decision.groups
    .map(({ digest, incident, firing }) => ({ digest, firing, incidentId: idOf(incident) }))
    .filter(({ digest, incidentId, firing }) => {
      const group = stored.groups.get(digest);
      const isOld = group === undefined || Date.parse(now) - Date.parse(group.updatedAt) > REFRESH_AFTER;
      return isOld || inChanged.has(digest) || group.incidentId !== incidentId || group.firing !== firing;
    });
  if (groups.length === 0) return;
  const store = alertStore(trx, monitor);
  const ids = await store.saveGroups(groups, now);
  const added = await store.saveMembers(
    changed.map(([, { group, ...member }]) => ({ ...member, groupId: ids.get(group) as number })),
  );
  let members = source.members + added;
  if (members > MAX_MEMBERS) members = await store.forgetEnded();
  if (members > MAX_MEMBERS) throw invalidState(`A monitor has at most ${MAX_MEMBERS} alerts that fire`);
  const { declared, last, groups: collected } = decision.minute;
  await sourceStore(trx, monitor).save({ ...source, members, declared, lastIncidentId: idOf(last), groups: collected });
}

/** What has changed by the clock alone is no news. */
const isSame = (one: Member | undefined, other: Member) =>
  one !== undefined && jsonEqual({ ...one, changedAt: '' }, { ...other, changedAt: '' });

type Answered = Answer & { incidentId: number | null; why: string };

/** One record for each incident, and one for all groups that nothing was new of. */
function recordsOf(
  { principal, format }: ReceiveCommand,
  answers: readonly Answered[],
  now: Instant,
): NotificationRecord[] {
  const together = Map.groupBy(
    answers,
    ({ outcome, incidentId }) => `${outcome} ${outcome === 'unchanged' ? '' : incidentId}`,
  );
  const count = (combined: readonly Answered[], outcomes: readonly AlertOutcome[]) =>
    combined.reduce((sum, { changes }) => sum + changes.filter(({ outcome }) => outcomes.includes(outcome)).length, 0);
  return [...together.values()].map((combined): NotificationRecord => {
    const [{ group, outcome, incidentId, why }] = combined as [Answered, ...Answered[]];
    return {
      receivedAt: now,
      keyName: principal.key?.name ?? `key ${principal.key_id}`,
      keyPrefix: principal.key?.prefix ?? '',
      format,
      identity: shorten(group.identity, KEPT.identity),
      outcome,
      reason: why,
      bodyStart: '',
      incidentId,
      groups: combined.length,
      started: count(combined, ['started']),
      ended: count(combined, ['ended']) + combined.reduce((sum, { over }) => sum + over, 0),
      unchanged: count(combined, ['unchanged', 'acknowledged', 'raised']),
    };
  });
}

function resultOf(
  { group, outcome, why, incidentId, remindAt, changes }: Answered,
  numbers: ReadonlyMap<number, number>,
): GroupResult {
  const number = incidentId === null ? undefined : numbers.get(incidentId);
  return {
    identity: shorten(group.identity, KEPT.identity),
    outcome,
    reason: why,
    incident: incidentId === null || number === undefined ? null : { id: incidentId, number },
    remindAt,
    alerts: changes.map((change) => ({ id: shorten(change.alert.id, KEPT.identity), outcome: change.outcome })),
  };
}
