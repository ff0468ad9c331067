import type { EventWorkspace } from '@tocsin/contracts';
import { outbox } from '@tocsin/messaging';
import { type Knex, versionStore } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { serviceSnapshot, teamSnapshot } from '../domain/snapshots.ts';
import { serviceStore } from '../store/service-store.ts';
import { teamStore } from '../store/team-store.ts';

const BATCH = 500;

/**
 * Makes all teams and services of a workspace newer than anything that replicas have seen, and publishes them again. For
 * data that were restored to an earlier moment: replicas ignore everything that is older than what they have.
 * @param options.seen the highest version that any replica has seen
 * @returns the new version
 */
export async function republish(
  trx: Knex.Transaction,
  { workspace, seen, now }: { workspace: EventWorkspace; seen: number; now: Instant },
): Promise<number> {
  const version = await versionStore(trx, workspace.id).raiseAbove(seen);
  await teamStore(trx, workspace.id).lockHierarchy();
  const eventsOf = {
    teams: async (ids: readonly number[]) =>
      (await teamStore(trx, workspace.id).listByIds(ids)).map((team) => ({
        type: 'team.changed' as const,
        data: { version, team: teamSnapshot(team) },
      })),
    services: async (ids: readonly number[]) =>
      (await serviceStore(trx, workspace.id).listByIds(ids)).map((service) => ({
        type: 'service.changed' as const,
        data: { version, service: serviceSnapshot(service) },
      })),
  };
  for (const table of ['teams', 'services'] as const) {
    const rows = await trx(table)
      .where({ workspace_id: workspace.id })
      .update({ version })
      .returning<{ id: number }[]>('id');
    for (let start = 0; start < rows.length; start += BATCH) {
      const events = await eventsOf[table](rows.slice(start, start + BATCH).map(({ id }) => id));
      await outbox(trx).add(...events.map((event) => ({ ...event, occurredAt: now, workspace, requestId: null })));
    }
  }
  return version;
}
