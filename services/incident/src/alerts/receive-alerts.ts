import { invalidState, throttleByWorkspace } from '@tocsin/http';
import type { FairQueue, Instant } from '@tocsin/runtime';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { replicaStore } from '../replicas/store/replica-store.ts';
import { initialValues } from '../values/domain/values.ts';
import { addTo, declareFor } from './add-to-incident.ts';
import { digestOf, KEPT, type Notification } from './domain/alert.ts';
import { shorten } from './domain/body-reader.ts';
import { type AlertOutcome, changesOf, type Member } from './domain/firings.ts';
import { stormTitle } from './domain/texts.ts';
import {
  alertsThat,
  type Handling,
  isChanged,
  isOpenIn,
  lockTarget,
  overOf,
  type Plan,
  type ReceiveCommand,
  starts,
  type Target,
} from './handling.ts';
import {
  type AlertSource,
  alertStore,
  incidentNumbers,
  type NotificationRecord,
  type Outcome,
} from './store/alert-store.ts';

/** What has become of a group of a notification. */
export interface GroupResult {
  identity: string;
  outcome: Outcome;
  /** Why something was not kept; empty: all was. */
  reason: string;
  incident: { id: number; number: number } | null;
  alerts: readonly { id: string; outcome: AlertOutcome }[];
}

/** Alerts that a key has under way at most, firing or ended: those that ended are forgotten first. */
const MAX_MEMBERS = 20_000;
/** Notifications of more alerts take time to handle, so those of a workspace take turns. */
const LARGE = 100;
/** Milliseconds after which a group whose alerts go on firing is marked as known again. */
const REFRESH_AFTER = 86_400_000;
const MINUTE = 60_000;

export interface AlertDependencies extends CommandDependencies {
  /** One lease for each key: notifications that wait for each other hold no connection. */
  alertLeases: FairQueue<string>;
}

/**
 * Takes a notification of a monitor (contract: Alerts): all of it commits, or nothing. The notifications of a key are
 * handled one after the other, so that two that come at once declare one incident.
 * @throws DomainError `invalid_resource_state` for a quota
 */
export async function receiveAlerts(dependencies: AlertDependencies, command: ReceiveCommand): Promise<GroupResult[]> {
  const { workspace, key_id: keyId } = command.principal;
  const take = async () =>
    dependencies.alertLeases.run(`${workspace.id}/${keyId}`, async () => takeAlerts(dependencies, command));
  const alerts = command.notification.groups.reduce((sum, group) => sum + group.alerts.length, 0);
  return alerts > LARGE ? throttleByWorkspace(`alerts of ${workspace.id}`, take) : take();
}

async function takeAlerts(dependencies: CommandDependencies, command: ReceiveCommand): Promise<GroupResult[]> {
  const { database, replicas, clock } = dependencies;
  const { principal, notification } = command;
  const { workspace } = principal;
  return runCommand(dependencies, {
    workspace,
    replicas: ['catalog', 'custom_field'],
    prepare: async ({ readConfiguration, freshness }) => ({
      configuration: await readConfiguration(),
      values: initialValues(await replicas.fields.get(workspace.id, freshness.get('custom_field')?.version), [], {
        required: false,
      }),
      services: await replicaStore(database, workspace.id).findMonitoredServices(servicesOf(notification)),
    }),
    transaction: async (trx, { prepared, storage }) => {
      const store = alertStore(trx, { workspaceId: workspace.id, keyId: principal.key_id });
      const keyName = principal.key?.name ?? `key ${principal.key_id}`;
      const handling: Handling = { trx, store, command, ...prepared, storage, now: clock.now(), keyName };
      const source = currentMinute(await store.lock(), handling.now);
      const plans = await planGroups(handling);
      const after = await handlePlans(handling, source, plans);
      await savePlans(handling, after, plans);
      await store.record(recordsOf(handling, plans));
      const numbers = await incidentNumbers(trx, [...new Set(plans.flatMap(({ incidentId }) => incidentId ?? []))]);
      return plans.map((plan) => resultOf(plan, numbers));
    },
  });
}

const servicesOf = ({ groups }: Notification): string[] => [
  ...new Set(groups.flatMap(({ alerts }) => alerts.map(({ service }) => service.normalize('NFC')))),
];

/** The key as it is in this minute: the incidents of an earlier one do not count. */
function currentMinute(source: AlertSource, now: Instant): AlertSource {
  const minute = new Date(Math.floor(Date.parse(now) / MINUTE) * MINUTE).toISOString();
  return source.minute === minute ? source : { ...source, minute, declared: 0, lastIncidentId: null, groups: 0 };
}

/** Compares the groups with what is known of them. */
async function planGroups({ store, command: { notification } }: Handling): Promise<Plan[]> {
  const { groups } = notification;
  const digests = groups.map(({ identity }) => digestOf(identity));
  const stored = new Map((await store.findGroups(digests)).map((group) => [group.identity, group]));
  const members = await store.findMembers(
    [...stored.values()].map(({ id }) => id),
    {
      alerts: groups.flatMap(({ alerts }) => alerts.map(({ key }) => key)),
      over: groups.flatMap(({ isOver }, index) => (isOver ? (stored.get(digests[index] ?? '')?.id ?? []) : [])),
    },
  );
  return groups.map((group, index): Plan => {
    const digest = digests[index] ?? '';
    const own = stored.get(digest);
    const known = members.get(own?.id ?? 0) ?? new Map<string, Member>();
    const changed = changesOf(group, known);
    const delta = [...changed.members].reduce(
      (sum, [key, { isFiring }]) => sum + Number(isFiring) - Number(known.get(key)?.isFiring ?? false),
      0,
    );
    const incidentId = own?.incidentId ?? null;
    return { group, digest, stored: own, known, ...changed, delta, incidentId, outcome: 'unchanged', reason: '' };
  });
}

/** Adds the groups to their incidents, and declares new ones. Returns the key as it is then. */
async function handlePlans(handling: Handling, source: AlertSource, plans: readonly Plan[]): Promise<AlertSource> {
  const changed = plans.filter(isChanged);
  for (const plan of plans) if (!isChanged(plan) && plan.incidentId === null) plan.reason = 'It is not known to fire';
  const ofIncidents = Map.groupBy(changed, ({ incidentId }) => incidentId);
  const homeless = ofIncidents.get(null) ?? [];
  for (const [id, own] of [...ofIncidents].sort(([a], [b]) => Number(a) - Number(b))) {
    if (id === null) continue;
    const target = await lockTarget(handling, id);
    const isOpen = isOpenIn(handling.configuration, target.incident);
    const canReopen = !isOpen && wasEndedBy(target, handling);
    const stays = (plan: Plan) => isOpen || canReopen || !starts(plan);
    const staying = own.filter(stays);
    homeless.push(...own.filter((plan) => !stays(plan)));
    if (staying.length > 0) await addTo(handling, target, staying);
  }
  return declareAll(handling, source, homeless.filter(starts));
}

/** Whether the end of its alerts has resolved an incident a short time ago, and nobody has changed it since. */
function wasEndedBy({ incident, alerts }: Target, { now, command: { options } }: Handling): boolean {
  if (alerts.resolvedRevision !== incident.revision || alerts.endedAt === null || incident.archivedAt !== null)
    return false;
  return Date.parse(now) - Date.parse(alerts.endedAt) <= options.reopenWithin;
}

/** Declares an incident for each group; the last one that a minute allows stands for all further groups. */
async function declareAll(handling: Handling, source: AlertSource, plans: readonly Plan[]): Promise<AlertSource> {
  const { options } = handling.command;
  let current = source;
  const room = Math.max(0, options.newIncidents - current.declared);
  for (const plan of plans.slice(0, room)) current = await declareFor(handling, current, plan);
  const collected = plans.slice(room);
  if (collected.length === 0) return current;
  let last = current.lastIncidentId === null ? undefined : await lockTarget(handling, current.lastIncidentId);
  if (last === undefined || !isOpenIn(handling.configuration, last.incident)) {
    // Somebody has ended it already: another one stands for them.
    current = await declareFor(handling, current, collected.shift() as Plan);
    if (collected.length === 0) return current;
    last = await lockTarget(handling, current.lastIncidentId as number);
  }
  const groups = current.groups + collected.length;
  const change = last.incident.isUnhandledAlert ? { title: stormTitle(groups, handling.keyName) } : {};
  await addTo(handling, last, collected, { change, outcome: 'collected' });
  return { ...current, groups };
}

/** Stores what is known of the groups and their alerts now. */
async function savePlans({ store, now }: Handling, source: AlertSource, plans: readonly Plan[]): Promise<void> {
  const changed = new Map(
    plans.map(({ digest, known, members }) => [
      digest,
      [...members].filter(([key, member]) => !isSame(known.get(key), member)),
    ]),
  );
  const isNews = ({ digest, stored, incidentId }: Plan) =>
    (changed.get(digest)?.length ?? 0) > 0 ||
    stored?.incidentId !== incidentId ||
    Date.parse(now) - Date.parse(stored.updatedAt) > REFRESH_AFTER;
  const saved = plans.filter(isNews);
  // What most notifications say is known already.
  if (saved.length === 0) return;
  const ids = await store.saveGroups(
    saved.map(({ digest, incidentId, stored, delta }) => ({
      identity: digest,
      incidentId,
      firing: (stored?.firing ?? 0) + delta,
    })),
    now,
  );
  const added = await store.saveMembers(
    [...ids].flatMap(([digest, groupId]) =>
      (changed.get(digest) ?? []).map(([alert, member]) => ({ ...member, groupId, alert })),
    ),
  );
  let members = source.members + added;
  if (members > MAX_MEMBERS) members = await store.forgetEnded();
  if (members > MAX_MEMBERS) throw invalidState(`A key has at most ${MAX_MEMBERS} alerts that fire`);
  await store.saveSource({ ...source, members });
}

const isSame = (one: Member | undefined, other: Member) =>
  one?.isFiring === other.isFiring && one.firing === other.firing && one.isAcknowledged === other.isAcknowledged;

/** One record for each incident, and one for all groups that nothing was new of. */
function recordsOf({ command, keyName, now }: Handling, plans: readonly Plan[]): NotificationRecord[] {
  const together = Map.groupBy(
    plans,
    ({ outcome, incidentId }) => `${outcome} ${outcome === 'unchanged' ? '' : incidentId}`,
  );
  return [...together.values()].map((own): NotificationRecord => {
    const [{ group, outcome, reason, incidentId }] = own as [Plan, ...Plan[]];
    return {
      receivedAt: now,
      keyName,
      keyPrefix: command.principal.key?.prefix ?? '',
      format: command.format,
      identity: shorten(group.identity, KEPT.identity),
      outcome,
      reason,
      incidentId,
      groups: own.length,
      started: alertsThat(own, 'started').length,
      ended: alertsThat(own, 'ended').length + overOf(own),
      unchanged: alertsThat(own, 'unchanged').length,
    };
  });
}

function resultOf(
  { group, outcome, reason, incidentId, changes }: Plan,
  numbers: ReadonlyMap<number, number>,
): GroupResult {
  const number = incidentId === null ? undefined : numbers.get(incidentId);
  return {
    identity: shorten(group.identity, KEPT.identity),
    outcome,
    reason,
    incident: incidentId === null || number === undefined ? null : { id: incidentId, number },
    alerts: changes.map((change) => ({ id: shorten(change.alert.id, KEPT.identity), outcome: change.outcome })),
  };
}
