import { type Knex, query } from '@tocsin/postgres';

async function find(db: Knex): Promise<string | undefined> {
  const [row] = await query<{ id: string }>(db, { name: 'find-installation', text: 'select id from installation' });
  return row?.id;
}

/** The ID of the installation: made once, the same for all gateways, and restored with a backup. */
export async function installationId(db: Knex): Promise<string> {
  const id = await find(db);
  if (id !== undefined) return id;
  await query(db, {
    text: 'insert into installation (is_only_row, id) values (true, $1) on conflict (is_only_row) do nothing',
    values: [crypto.randomUUID()],
  });
  return (await find(db)) as string;
}
