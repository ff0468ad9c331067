import type { EventWorkspace } from '@tocsin/contracts';
import { outbox } from '@tocsin/messaging';
import { type Knex, versionStore } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { definitionSnapshot } from '../domain/snapshot.ts';
import { fieldStore } from '../store/field-store.ts';

/** A definition may be a megabyte. */
const BATCH = 10;

/**
 * Makes all definitions of a workspace newer than anything that replicas have seen, and publishes them again. For data
 * that were restored to an earlier moment: replicas ignore everything that is older than what they have.
 * @param options.seen the highest version that any replica has seen
 * @returns the new version
 */
export async function republish(
  trx: Knex.Transaction,
  { workspace, seen, now }: { workspace: EventWorkspace; seen: number; now: Instant },
): Promise<number> {
  const version = await versionStore(trx, workspace.id).raiseAbove(seen);
  const rows = await trx('definitions')
    .where({ workspace_id: workspace.id })
    .update({ version })
    .returning<{ id: number }[]>('id');
  for (let start = 0; start < rows.length; start += BATCH) {
    const fields = await fieldStore(trx, workspace.id).listByIds(rows.slice(start, start + BATCH).map(({ id }) => id));
    await outbox(trx).add(
      ...fields.map((field) => ({
        type: 'custom-field.changed' as const,
        occurredAt: now,
        workspace,
        requestId: null,
        data: { version, field: definitionSnapshot(field) },
      })),
    );
  }
  return version;
}
