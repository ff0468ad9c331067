import type { CheckContext } from './check.ts';
import { OWNER_APPS, type Replica } from './replicas.ts';

/**
 * Compares the rows of a replica with those of its owner.
 * @param ids workspaces whose replica has the version of its owner
 * @returns those whose rows differ
 */
export async function findDifferent(
  { database }: CheckContext,
  { holder, owner, tables }: Replica,
  ids: readonly number[],
): Promise<number[]> {
  const different = new Set<number>();
  for (const { table, source, columns } of tables) {
    const digest = (name: string, side: 0 | 1) => `
      select workspace_id, sum(('x' || left(md5(row(${columns.map((pair) => pair[side]).join(', ')})::text), 15))::bit(60)::bigint)::text as digest
      from ${name} where workspace_id = any(?::bigint[]) group by workspace_id`;
    const [copied, owned] = await Promise.all([
      database(holder).raw<{ rows: DigestRow[] }>(digest(table, 0), [[...ids]]),
      database(OWNER_APPS[owner]).raw<{ rows: DigestRow[] }>(digest(source, 1), [[...ids]]),
    ]);
    const digests = new Map(owned.rows.map((row) => [row.workspace_id, row.digest]));
    const copies = new Map(copied.rows.map((row) => [row.workspace_id, row.digest]));
    for (const id of ids) if (digests.get(id) !== copies.get(id)) different.add(id);
  }
  return [...different];
}

interface DigestRow {
  workspace_id: number;
  digest: string;
}
