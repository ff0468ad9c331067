import type pg from 'pg';
import type { Size } from './size.ts';
import { REPORTING_CURRENCY, USERS, VERSION } from './world.ts';

/** Workspaces `seed-1`, `seed-2`, …, and their users. */
export async function seedGateway(client: pg.Client, { workspaces }: Size): Promise<void> {
  const { rowCount } = await client.query('select 1 from workspaces limit 1');
  if (rowCount !== 0) throw new Error('the database has workspaces: seed an empty database');
  await client.query(
    `insert into workspaces (id, slug, name, reporting_currency, version)
     select w, 'seed-' || w, 'Seed ' || w, $2, $3 from generate_series(1, $1) as w`,
    [workspaces, REPORTING_CURRENCY, VERSION],
  );
  await client.query(
    `insert into users (id, workspace_id, email, name, seat, role, version)
     select (w - 1) * $2 + u, w, 'user-' || u || '@seed-' || w || '.example', 'User ' || u, 'responder',
       case u when 1 then 'owner' else 'member' end, $3
     from generate_series(1, $1) as w, generate_series(1, $2) as u`,
    [workspaces, USERS, VERSION],
  );
  await client.query(`
    select setval(pg_get_serial_sequence('workspaces', 'id'), max(id)) from workspaces`);
  await client.query(`
    select setval(pg_get_serial_sequence('users', 'id'), max(id)) from users`);
}
