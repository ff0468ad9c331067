import { type Knex, query } from '@tocsin/postgres';

/** Whether the workspace has restricted incidents. */
export async function isAnyRestricted(db: Knex, workspaceId: number): Promise<boolean> {
  const rows = await query(db, {
    name: 'is-any-restricted',
    text: 'select from incidents where workspace_id = $1 and restricted limit 1',
    values: [workspaceId],
  });
  return rows.length > 0;
}
