import { foldedKey } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import { ENTRY_BYTES, latestVersionCache, boundedCache } from '@tocsin/runtime';
import { byCodePoints } from '../../shared/domain/compare-text.ts';
import { replicatedServices } from './replica-reads.ts';

/** What lists need to know of a service in the catalog. */
export interface CatalogService {
  slug: string;
  tier: string;
  /** The team of the service's incidents that have no team of their own; null for an archived service. */
  ownerTeamId: number | null;
}

/** The teams that have the same name when it is folded, and the services whose incidents are theirs. */
export interface TeamsOfName {
  ids: number[];
  slugs: string[];
}

/** The services and teams of a workspace, including archived ones. */
export interface Catalog {
  services: readonly CatalogService[];
  /** The folded names of teams, ascending. */
  teamNames: readonly string[];
  teamsByName: ReadonlyMap<string, TeamsOfName>;
}

export const EMPTY_CATALOG: Catalog = { services: [], teamNames: [], teamsByName: new Map() };

/** Reads the catalogs of workspaces. */
export interface Catalogs {
  /** @param version up to which the replica is complete; `undefined` if unknown, which bypasses the cache */
  get(workspaceId: number, version: number | undefined): Promise<Catalog>;
}

const CATALOGS_BYTES = 64 * 1_048_576;

/** With 5,000 teams and as many services a catalog takes about two megabytes. */
const sizeOf = ({ services, teamsByName }: Catalog) => ENTRY_BYTES * (1 + services.length + teamsByName.size);

/**
 * Caches each workspace's catalog by the version that the replica had before it was read, so the cache never returns a stale
 * catalog. Sorting thousands of names takes longer than reading a page.
 */
export function catalogs(database: Knex): Catalogs {
  const cache = latestVersionCache<Catalog>({ bytes: CATALOGS_BYTES, sizeOf });
  return {
    async get(workspaceId, version) {
      const cached = version === undefined ? undefined : cache.get(workspaceId, version);
      if (cached !== undefined) return cached;
      const catalog = toCatalog(await readServices(database, workspaceId), await readTeams(database, workspaceId));
      if (version !== undefined) cache.set(workspaceId, version, catalog);
      return catalog;
    },
  };
}

function toCatalog(services: readonly CatalogService[], teams: readonly { id: number; name: string }[]): Catalog {
  const teamsByName = new Map<string, TeamsOfName>();
  const teamsById = new Map<number, TeamsOfName>();
  for (const { id, name } of teams) {
    const folded = foldedKey(name);
    const ofName = teamsByName.get(folded) ?? { ids: [], slugs: [] };
    ofName.ids.push(id);
    teamsByName.set(folded, ofName);
    teamsById.set(id, ofName);
  }
  for (const { slug, ownerTeamId } of services) {
    if (ownerTeamId !== null) teamsById.get(ownerTeamId)?.slugs.push(slug);
  }
  return { services, teamNames: [...teamsByName.keys()].sort(byCodePoints), teamsByName };
}

const readServices = async (db: Knex, workspaceId: number): Promise<CatalogService[]> =>
  query<CatalogService>(db, {
    name: 'list-services',
    text: `select slug, tier, case when archived_at is null then owner_team_id end as "ownerTeamId"
      from replica_services where workspace_id = $1`,
    values: [workspaceId],
  });

const readTeams = async (db: Knex, workspaceId: number): Promise<{ id: number; name: string }[]> =>
  query<{ id: number; name: string }>(db, {
    name: 'list-teams',
    text: 'select id, name from replica_teams where workspace_id = $1',
    values: [workspaceId],
  });

/** Finds the owner teams of services. */
export interface OwnerTeams {
  /**
   * Returns the owner team of the active service with this slug, unless the team is archived.
   * @param version up to which the replica of the catalog is complete; `undefined` if unknown: then nothing cached is used
   */
  find(workspaceId: number, slug: string, version: number | undefined): Promise<number | null>;
}

interface CachedTeam {
  /** The replica's version when it was read, or an earlier one. */
  version: number;
  teamId: number | null;
}

const TEAMS_BYTES = 4 * 1_048_576;
/** Milliseconds. The catalog may fail to announce a version; its event changes the replica nevertheless. */
const TTL = 5_000;

/** Most incidents of a workspace are about a few services, so what was read for one create is true for many. */
export function ownerTeams(database: Knex): OwnerTeams {
  const cache = boundedCache<string, CachedTeam>({
    bytes: TEAMS_BYTES,
    ttl: TTL,
    sizeOf: (_team, key) => ENTRY_BYTES + 2 * key.length,
  });
  return {
    async find(workspaceId, slug, version) {
      const key = `${workspaceId}/${slug}`;
      const cached = cache.get(key);
      if (cached !== undefined && version !== undefined && cached.version >= version) return cached.teamId;
      const start = performance.now();
      const teamId = await replicatedServices(database, workspaceId).findOwnerTeam(slug);
      if (version !== undefined) cache.set(key, { version, teamId }, { start });
      return teamId;
    },
  };
}
