import { column, type ColumnsOf, type ListOptions, resourceStore, rowMapping } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import type { NewService, Service } from '../domain/service.ts';
import { sortKeyOf } from '../domain/sort-key.ts';
import { containsText } from './contains-text.ts';

/** The column of each property; it has the property's name on the wire. */
export const SERVICE_TABLE = {
  id: column('id', 'bigint'),
  revision: column('revision', 'bigint'),
  workspaceId: column('workspace_id', 'bigint'),
  name: column('name', 'text'),
  slug: column('slug', 'text'),
  description: column('description', 'text'),
  ownerTeamId: column('owner_team_id', 'bigint'),
  tier: column('tier', 'text'),
  tags: column('tags', 'text[]'),
  externalId: column('external_id', 'text'),
  runbookUrl: column('runbook_url', 'text'),
  observabilityNames: column('observability_names', 'text[]'),
  createdAt: column('created_at', 'timestamptz'),
  updatedAt: column('updated_at', 'timestamptz'),
  archivedAt: column('archived_at', 'timestamptz'),
} as const satisfies ColumnsOf<Omit<Service, 'owner'>>;

export const SERVICE_COLUMNS = rowMapping<Omit<Service, 'owner'>, typeof SERVICE_TABLE>(SERVICE_TABLE);

const SELECTION = `${SERVICE_COLUMNS.selectionOf('services')},
  case when owner.id is not null
    then json_build_object('id', owner.id, 'name', owner.name, 'slug', owner.slug) end as owner`;

/** The rank of a tier that is not in the list of tiers, because it was configured after the list was read. */
const LAST_RANK = 1_000;
/** The index of a service's tier in a list of tiers' keys, from 1. */
const RANK = `coalesce(array_position(?::text[], services.tier), ${LAST_RANK})`;

/** The position of a service in the list. */
export interface ServicePosition {
  tier: string;
  sortKey: string;
  id: number;
}

export const positionOf = ({ tier, name, id }: Service): ServicePosition => ({ tier, sortKey: sortKeyOf(name), id });

/** What a list is restricted to; all of them must match. */
export interface ServiceFilters {
  ownerTeamId: number | undefined;
  /** Alternatives. */
  tiers: string[] | undefined;
  /** A part of the name or the slug, in any case of letters. */
  q: string | undefined;
}

/** The services of one workspace, over a pool or a transaction. */
export function serviceStore(db: Knex, workspaceId: number) {
  const store = resourceStore<Service>(db, workspaceId, {
    table: 'services',
    label: 'service',
    quota: 'services',
    toColumns,
    selection: SELECTION,
    joins:
      'left join teams as owner on owner.workspace_id = services.workspace_id and owner.id = services.owner_team_id',
  });
  return {
    ...store,

    /** Returns services by the rank of their tiers, name, then ID, starting after a position. */
    async list(
      options: ListOptions & {
        /** The tiers' keys in rank order. */
        tiers: string[];
        filters: ServiceFilters;
        /** Its tier is one of them. */
        after: ServicePosition | undefined;
      },
    ): Promise<Service[]> {
      const { ownerTeamId, tiers, q } = options.filters;
      const services = store.listed(store.selected(), options);
      void services.orderByRaw(`${RANK}, services.sort_name, services.id`, [options.tiers]);
      if (ownerTeamId !== undefined) void services.where('services.owner_team_id', ownerTeamId);
      if (tiers !== undefined) void services.whereIn('services.tier', tiers);
      if (q !== undefined) {
        const name = containsText('services.sort_name', sortKeyOf(q));
        const slug = containsText('normalize(services.slug, NFKC)', sortKeyOf(q));
        void services.whereRaw(`(${name.condition} or ${slug.condition})`, [...name.values, ...slug.values]);
      }
      if (options.after !== undefined) {
        const { tier, sortKey, id } = options.after;
        void services.whereRaw(`(${RANK}, services.sort_name, services.id) > (?, ?, ?)`, [
          options.tiers,
          options.tiers.indexOf(tier) + 1,
          sortKey,
          id,
        ]);
      }
      return services;
    },

    /** Counts the services, archived ones included, by each tier that is not in `keys`; with the slug of one of them. */
    countTiersExcept: async (keys: readonly string[]): Promise<{ tier: string; slug: string; count: number }[]> =>
      query<{ tier: string; slug: string; count: number }>(db, {
        text: `select tier, min(slug) as slug, count(id) as count from services
          where workspace_id = $1 and tier <> all((select $2::text[])::text[]) group by tier order by tier`,
        values: [workspaceId, keys],
      }),
  };
}

const toColumns = (service: NewService) => ({ ...SERVICE_COLUMNS.toRow(service), sort_name: sortKeyOf(service.name) });
