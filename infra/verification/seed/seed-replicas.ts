import type pg from 'pg';
import type { Size } from './size.ts';
import { EXCHANGE_RATES, FIELDS, SERVICES, TEAMS, TIERS, USERS, VERSION } from './world.ts';

/** The incident service's copies of the other apps' data, complete. */
export async function seedReplicas(client: pg.Client, { workspaces }: Size): Promise<void> {
  await client.query(
    `insert into replica_versions (workspace_id, owner, version, workspace_version)
     select w, owner, $2, $2
     from generate_series(1, $1) as w, unnest(array['users', 'catalog', 'custom_field']) as owner`,
    [workspaces, VERSION],
  );
  await client.query(
    `insert into replica_users (id, workspace_id, active, version)
     select (w - 1) * $2 + u, w, true, $3 from generate_series(1, $1) as w, generate_series(1, $2) as u`,
    [workspaces, USERS, VERSION],
  );
  await client.query(
    `insert into replica_teams (id, workspace_id, name, slug, version)
     select (w - 1) * cardinality($2) + n, w, name, lower(name), $3
     from generate_series(1, $1) as w, unnest($2::text[]) with ordinality as team(name, n)`,
    [workspaces, TEAMS, VERSION],
  );
  await client.query(
    `insert into replica_services (id, workspace_id, slug, owner_team_id, tier, version)
     select (w - 1) * cardinality($2) + n, w, slug, (w - 1) * $3 + 1 + (n - 1) * $3 / cardinality($2),
       ($4::text[])[1 + n % cardinality($4)], $5
     from generate_series(1, $1) as w, unnest($2::text[]) with ordinality as service(slug, n)`,
    [workspaces, SERVICES, TEAMS.length, TIERS, VERSION],
  );
  await client.query(
    `insert into replica_tiers (workspace_id, key, rank)
     select w, key, n - 1 from generate_series(1, $1) as w, unnest($2::text[]) with ordinality as tier(key, n)`,
    [workspaces, TIERS],
  );
  await client.query(
    `insert into replica_fields (id, workspace_id, slug, definition, version)
     select (w - 1) * $2 + n, w, field ->> 'slug',
       jsonb_strip_nulls(field) || jsonb_build_object('id', (w - 1) * $2 + n, 'revision', 1, 'required', false,
         'required_on_creation', false, 'sort_order', n, 'created_at', '2026-01-01T00:00:00.000Z', 'archived_at', null),
       $4
     from generate_series(1, $1) as w, jsonb_array_elements($3::jsonb) with ordinality as entry(field, n)`,
    [workspaces, FIELDS.length, JSON.stringify(FIELDS), VERSION],
  );
  const rates = Object.entries(EXCHANGE_RATES).map(([currency, rate]) => [
    currency,
    { rate, asOf: new Date().toISOString() },
  ]);
  await client.query(
    'insert into configurations (workspace_id, exchange_rates) select w, $2::jsonb from generate_series(1, $1) as w',
    [workspaces, JSON.stringify(Object.fromEntries(rates))],
  );
}
