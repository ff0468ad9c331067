import { DomainError, notFound } from '@tocsin/http';
import { brokenConstraint, type Instant, type Knex } from '@tocsin/runtime';
import type { NewService, Service } from '../domain/service.ts';
import { sortName } from '../domain/sort-name.ts';

interface ServiceRow {
  id: number;
  workspace_id: number;
  revision: number;
  name: string;
  slug: string;
  description: string | null;
  owner_team_id: number | null;
  owner_name: string | null;
  owner_slug: string | null;
  tier: string;
  tags: string[];
  external_id: string | null;
  observability_names: string[];
  created_at: Instant;
  updated_at: Instant;
  archived_at: Instant | null;
}

const COLUMNS = [
  'services.id',
  'services.workspace_id',
  'services.revision',
  'services.name',
  'services.slug',
  'services.description',
  'services.owner_team_id',
  'owner.name as owner_name',
  'owner.slug as owner_slug',
  'services.tier',
  'services.tags',
  'services.external_id',
  'services.observability_names',
  'services.created_at',
  'services.updated_at',
  'services.archived_at',
];

/** The rank of a tier that is not among those asked for: one that was configured a moment ago. */
const LAST_RANK = 1_000;
/** A service's place among the tiers' keys, from 1. */
const RANK = `coalesce(array_position(?::text[], services.tier), ${LAST_RANK})`;

/** The position of a service in the list. */
export interface ServicePosition {
  rank: number;
  sortName: string;
  id: number;
}

export const positionOf = ({ tier, name, id }: Service, tiers: readonly string[]): ServicePosition => ({
  rank: tiers.includes(tier) ? tiers.indexOf(tier) + 1 : LAST_RANK,
  sortName: sortName(name),
  id,
});

/** Services of one workspace, over a pool or a transaction. */
export function serviceStore(db: Knex, workspaceId: number) {
  const services = () => db('services').where({ 'services.workspace_id': workspaceId });
  const whole = () =>
    services().leftJoin('teams as owner', 'owner.id', 'services.owner_team_id').select<ServiceRow[]>(COLUMNS);
  const get = async (id: number): Promise<Service> => {
    const [row] = await whole().where({ 'services.id': id });
    if (row === undefined) throw notFound('The service');
    return toService(row);
  };
  return {
    /** @throws DomainError `not_found` */
    get,

    /** Locked until the transaction ends, so that what is judged is what is changed. @throws DomainError `not_found` */
    async getForUpdate(id: number): Promise<Service> {
      // First the lock: after a wait for it, the same statement would join the owner that was.
      await services().where({ id }).forUpdate().select('id');
      return get(id);
    },

    /** @throws DomainError `duplicate_slug` for one that any service of the workspace has or had */
    async insert(service: NewService, version: number): Promise<Service> {
      try {
        const [row] = await db('services')
          .insert({
            ...toRow(service),
            workspace_id: workspaceId,
            slug: service.slug,
            created_at: service.createdAt,
            version,
          })
          .returning<{ id: number }[]>('id');
        return { ...service, id: (row as { id: number }).id };
      } catch (error) {
        if (brokenConstraint(error) === 'services_workspace_id_slug_unique') {
          throw new DomainError('duplicate_slug', `A service has or had the slug ${service.slug}`, { field: 'slug' });
        }
        throw error;
      }
    },

    /** Writes a service that this transaction has locked. */
    async update(service: Service, version: number): Promise<void> {
      await services()
        .where({ id: service.id, revision: service.revision - 1 })
        .update({ ...toRow(service), version });
    },

    /** By the rank of their tiers, name, then ID, after a position in that order. */
    async list(options: {
      limit: number;
      includeArchived: boolean;
      /** The tiers' keys in rank order. */
      tiers: string[];
      after: ServicePosition | undefined;
    }): Promise<Service[]> {
      const query = whole()
        .orderByRaw(`${RANK}, services.sort_name, services.id`, [options.tiers])
        .limit(options.limit);
      if (!options.includeArchived) void query.whereNull('services.archived_at');
      if (options.after !== undefined) {
        const { rank, sortName: name, id } = options.after;
        void query.whereRaw(`(${RANK}, services.sort_name, services.id) > (?, ?, ?)`, [options.tiers, rank, name, id]);
      }
      return (await query).map(toService);
    },

    /** Those that changed after a version. */
    changedSince: async (version: number): Promise<Service[]> =>
      (await whole().where('services.version', '>', version)).map(toService),

    /** Of these texts, those that are slugs here, archived services' included. */
    async slugsAmong(texts: readonly string[]): Promise<Set<string>> {
      const rows = await services().whereIn('slug', texts).select<{ slug: string }[]>('slug');
      return new Set(rows.map(({ slug }) => slug));
    },

    /** One tier beside `keys` that services have, archived ones included, and one of those services. */
    async findTierBeside(keys: readonly string[]): Promise<{ tier: string; slug: string; count: number } | undefined> {
      const [row] = await services()
        .whereNotIn('tier', keys)
        .groupBy('tier')
        .orderBy('tier')
        .limit(1)
        .select<{ tier: string; slug: string; count: number }[]>(
          'tier',
          db.raw('min(slug) as slug'),
          db.raw('count(id) as count'),
        );
      return row;
    },
  };
}

function toService(row: ServiceRow): Service {
  const { owner_team_id: ownerTeamId } = row;
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    revision: row.revision,
    name: row.name,
    slug: row.slug,
    description: row.description,
    ownerTeamId,
    owner: ownerTeamId === null ? null : { id: ownerTeamId, name: row.owner_name ?? '', slug: row.owner_slug ?? '' },
    tier: row.tier,
    tags: row.tags,
    externalId: row.external_id,
    observabilityNames: row.observability_names,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    archivedAt: row.archived_at,
  };
}

/** The columns that a change may write. */
function toRow(service: NewService) {
  return {
    revision: service.revision,
    name: service.name,
    sort_name: sortName(service.name),
    description: service.description,
    owner_team_id: service.ownerTeamId,
    tier: service.tier,
    tags: service.tags,
    external_id: service.externalId,
    observability_names: service.observabilityNames,
    updated_at: service.updatedAt,
    archived_at: service.archivedAt,
  };
}
