import { insertAllEvents } from '@tocsin/messaging';
import { type Knex, pipeline, query } from '@tocsin/postgres';
import { type Clock, type Instant, systemClock } from '@tocsin/runtime';
import { incidentSnapshot } from './domain/snapshot.ts';
import { clearReminders, hasDueUpdates, lockDueUpdates, MAX_DUE } from './store/due-updates.ts';

/**
 * Publishes `incident.update_due` of active incidents whose next update is due, once for each time that was set
 * (contract: Incidents). The revision stays: nobody has changed the incident.
 * @returns whether there may be more
 */
export async function announceDueUpdates({
  database,
  clock,
  time,
  wakeRelay,
}: {
  database: Knex;
  clock: Clock;
  time: () => Promise<Instant>;
  wakeRelay: () => void;
}): Promise<boolean> {
  const asOf = clock === systemClock ? null : clock.now();
  if (!(await hasDueUpdates(database, asOf))) return false;
  const now = await time();
  const count = await database.transaction(async (trx) => {
    const due = await query(trx, lockDueUpdates(asOf));
    const events = due.flatMap((incident) => {
      const { updateReminder: workspace, restricted } = incident;
      if (workspace === null) return [];
      const origin = { occurredAt: now, workspace, requestId: null, restricted };
      return { ...origin, type: 'incident.update_due' as const, data: { incident: incidentSnapshot(incident) } };
    });
    await pipeline(trx, [clearReminders(due), ...insertAllEvents(events)]);
    return due.length;
  });
  wakeRelay();
  return count === MAX_DUE;
}
