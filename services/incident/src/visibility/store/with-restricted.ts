import { type Knex, query } from '@tocsin/postgres';

/** Returns those of the workspaces that have restricted incidents. */
export async function withRestricted(db: Knex, workspaceIds: readonly number[]): Promise<number[]> {
  const rows = await query<{ id: number }>(db, {
    name: 'workspaces-with-restricted',
    text: `
      select id from unnest((select $1::bigint[])) as given (id)
      where exists (select from incidents where workspace_id = given.id and restricted)`,
    values: [workspaceIds],
  });
  return rows.map(({ id }) => id);
}
