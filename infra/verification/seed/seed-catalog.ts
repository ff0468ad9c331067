import type pg from 'pg';
import type { Size } from './size.ts';
import { SERVICES, TEAMS, TIERS, VERSION } from './world.ts';

/** Teams, and the services that they own. */
export async function seedCatalog(client: pg.Client, { workspaces }: Size): Promise<void> {
  await client.query(
    'insert into workspace_versions (workspace_id, version) select w, $2 from generate_series(1, $1) as w',
    [workspaces, VERSION],
  );
  await client.query(
    `insert into teams (id, workspace_id, revision, name, sort_name, slug, created_at, updated_at, version)
     select (w - 1) * cardinality($2) + n, w, 1, name, lower(name), lower(name), now(), now(), $3
     from generate_series(1, $1) as w, unnest($2::text[]) with ordinality as team(name, n)`,
    [workspaces, TEAMS, VERSION],
  );
  await client.query(
    `insert into services (id, workspace_id, revision, name, sort_name, slug, owner_team_id, tier, tags,
       observability_names, created_at, updated_at, version)
     select (w - 1) * cardinality($2) + n, w, 1, slug, slug, slug, (w - 1) * $3 + 1 + (n - 1) * $3 / cardinality($2),
       ($4::text[])[1 + n % cardinality($4)], '{}', '{}', now(), now(), $5
     from generate_series(1, $1) as w, unnest($2::text[]) with ordinality as service(slug, n)`,
    [workspaces, SERVICES, TEAMS.length, TIERS, VERSION],
  );
  await client.query(`select setval(pg_get_serial_sequence('teams', 'id'), max(id)) from teams`);
  await client.query(`select setval(pg_get_serial_sequence('services', 'id'), max(id)) from services`);
}
