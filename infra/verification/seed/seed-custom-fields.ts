import type pg from 'pg';
import type { Size } from './size.ts';
import { FIELDS, VERSION } from './world.ts';

/** One field of each type. */
export async function seedCustomFields(client: pg.Client, { workspaces }: Size): Promise<void> {
  await client.query(
    'insert into workspace_versions (workspace_id, version) select w, $2 from generate_series(1, $1) as w',
    [workspaces, VERSION],
  );
  await client.query(
    `insert into definitions (id, workspace_id, revision, name, slug, field_type, config, required, sort_order,
      category,
       visibility_level, show_on_creation, required_on_creation, auto_add_to_layout, created_at, updated_at, version)
     select (w - 1) * $2 + n, w, 1, field ->> 'name', field ->> 'slug', field ->> 'field_type',
       nullif(field -> 'config', 'null'),
       false, n, 'custom', 'standard', false, false, false, now(), now(), $4
     from generate_series(1, $1) as w, jsonb_array_elements($3::jsonb) with ordinality as entry(field, n)`,
    [workspaces, FIELDS.length, JSON.stringify(FIELDS), VERSION],
  );
  await client.query(`select setval(pg_get_serial_sequence('definitions', 'id'), max(id)) from definitions`);
}
