import { randomUUID } from 'node:crypto';
import type { Principal } from '@tocsin/schemas';
import { query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Owners } from '../replicas/clients/owners.ts';
import { type Alert, type AlertOptions, KEPT, type Notification } from './domain/alert.ts';
import { shorten } from './domain/body-reader.ts';
import { type Heartbeat, heartbeatAlert, heartbeatName, quietGroup } from './domain/overdue.ts';
import { type AlertDependencies, type GroupResult, receiveAlerts, senderOf } from './receive-alerts.ts';
import { heartbeatStore, MAX_HEARTBEATS, tooManyHeartbeats } from './store/heartbeat-store.ts';
import { type Due, findDue, isAnythingAwaited, postpone, quietStore, tick } from './store/overdue-store.ts';
import { keepSender } from './store/source-store.ts';

interface HearCommand {
  principal: Principal;
  requestId: string;
  name: string;
  /** Seconds. */
  within: number;
  options: AlertOptions;
}

/**
 * A monitor is heard (contract: Alerts, Heartbeats). What was missed ends.
 * @throws DomainError `invalid_resource_state` if the workspace has too many heartbeats
 */
export async function hearHeartbeat(
  dependencies: AlertDependencies,
  { principal, requestId, name, within, options }: HearCommand,
): Promise<{ heartbeat: Heartbeat; result: GroupResult | undefined }> {
  const { database, clock } = dependencies;
  const sender = senderOf({ principal });
  const heard = { name, within, options };
  const updated = await heartbeatStore(database, sender).hear(heard, principal, clock.now());
  if (updated !== undefined) return { heartbeat: updated, result: undefined };
  let heartbeat: Heartbeat | undefined;
  const { results } = await receiveAlerts(dependencies, {
    ...{ principal, requestId, options, format: 'heartbeat' },
    notification: heartbeatAlert({ name, heardAt: null }, options),
    isDue: async (trx, now) => {
      await query(trx, keepSender(sender, principal));
      const kept = await heartbeatStore(trx, sender).keep(heard, now);
      ({ heartbeat } = kept);
      return kept.wasMissed;
    },
  });
  return { heartbeat: heartbeat as Heartbeat, result: results[0] };
}

/** The alerts that a monitor always fires are its heartbeats; an end says only that one was not heard of. */
export async function hearOf(
  dependencies: AlertDependencies,
  { notification, options, ...command }: Omit<HearCommand, 'name'> & { notification: Notification },
): Promise<GroupResult[]> {
  const heard = new Map<string, Alert>();
  for (const alert of notification.groups.flatMap(({ alerts }) => alerts))
    if (alert.state === 'firing') heard.set(shorten(heartbeatName(alert), KEPT.name), alert);
  if (heard.size > MAX_HEARTBEATS) throw tooManyHeartbeats();
  const ended = new Map<string, GroupResult>();
  for (const [name, { key, severity, service }] of heard) {
    const heartbeatOptions: AlertOptions = { ...options, severity, service, onEnd: 'resolve' };
    const { result } = await hearHeartbeat(dependencies, { ...command, name, options: heartbeatOptions });
    if (result !== undefined) ended.set(key, result);
  }
  return notification.groups.map(({ identity, alerts }): GroupResult => {
    const result = alerts.map(({ key }) => ended.get(key)).find((each) => each !== undefined);
    return {
      ...{ outcome: 'unchanged', reason: '', incident: null, remindAt: undefined, ...result },
      identity: shorten(identity, KEPT.identity),
      alerts: alerts.map(({ id }) => ({ id: shorten(id, KEPT.identity), outcome: 'unchanged' })),
    };
  });
}

type OverdueDependencies = AlertDependencies & { owners: Pick<Owners, 'canBeReached'> };

/**
 * Declares incidents for heartbeats that were missed, and ends groups of which nothing was heard. Time in which this system
 * could not be reached does not count. What fails, for a quota for instance, is tried again in a minute.
 * @returns whether there may be more to do
 */
export async function endOverdue(dependencies: OverdueDependencies): Promise<boolean> {
  const { database, clock, owners } = dependencies;
  if (!(await isAnythingAwaited(database))) return false;
  // Monitors reach this service by the gateway alone.
  if (!(await owners.canBeReached())) return false;
  // One time for the look: this process may be halted at any moment of it.
  const now = clock.now();
  await tick(database, now);
  const due = await findDue(database, now);
  const errors: unknown[] = [];
  for (const each of due) {
    try {
      await endOne(dependencies, each, now);
    } catch (error) {
      errors.push(error);
      await postpone(database, senderOf({ principal: each.sender }), { due: each, now });
    }
  }
  if (errors.length > 0) throw errors[0];
  return due.length > 0;
}

async function endOne(
  dependencies: AlertDependencies,
  { sender: principal, heartbeat, quiet }: Due,
  now: Instant,
): Promise<void> {
  const sender = senderOf({ principal });
  const caller = { principal, requestId: randomUUID() };
  if (heartbeat !== undefined)
    await receiveAlerts(dependencies, {
      ...{ ...caller, options: heartbeat.options, format: 'heartbeat' },
      notification: heartbeatAlert(heartbeat, heartbeat.options),
      isDue: async (trx) => heartbeatStore(trx, sender).miss(heartbeat.id, now),
    });
  if (quiet !== undefined)
    await receiveAlerts(dependencies, {
      ...{ ...caller, options: quiet.options, format: quiet.format },
      notification: quietGroup(quiet, quiet.digest),
      isDue: async (trx) => quietStore(trx, sender).end(quiet.digest, now),
    });
}
