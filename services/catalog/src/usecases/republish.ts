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
  const origin = { occurredAt: now, workspace, requestId: null };
  for (const table of ['teams', 'services'] as const) {
    await trx(table).where({ workspace_id: workspace.id }).update({ version });
    for (let after = 0; ;) {
      const ids = await nextIds(trx, table, { workspaceId: workspace.id, after });
      if (table === 'teams') {
        const teams = await teamStore(trx, workspace.id).listByIds(ids);
        await outbox(trx).add(
          ...teams.map((team) => ({
            ...origin,
            type: 'team.changed' as const,
            data: { version, team: teamSnapshot(team) },
          })),
        );
      } else {
        const services = await serviceStore(trx, workspace.id).listByIds(ids);
        await outbox(trx).add(
          ...services.map((service) => ({
            ...origin,
            type: 'service.changed' as const,
            data: { version, service: serviceSnapshot(service) },
          })),
        );
      }
      if (ids.length < BATCH) break;
      after = ids.at(-1) ?? 0;
    }
  }
  return version;
}

async function nextIds(
  trx: Knex.Transaction,
  table: 'teams' | 'services',
  { workspaceId, after }: { workspaceId: number; after: number },
): Promise<number[]> {
  const rows = await trx(table)
    .where({ workspace_id: workspaceId })
    .where('id', '>', after)
    .orderBy('id')
    .limit(BATCH)
    .select<{ id: number }[]>('id');
  return rows.map(({ id }) => id);
}
