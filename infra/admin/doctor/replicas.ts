import type { AppName } from '../../apps.ts';
import type { ReplicaTable } from '../../../services/incident/src/administration.ts';

/** Whose versions a replica counts, as `replica_versions` of the incident service names them. */
export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

/** A table of a replica and the table that it copies, with the columns that both have. */
interface CopiedTable {
  table: ReplicaTable;
  source: string;
  /** Pairs of expressions with the same value on both sides. */
  columns: readonly (readonly [replica: string, source: string])[];
}

export interface Replica {
  holder: Extract<AppName, 'incident' | 'catalog'>;
  owner: ReplicaOwner;
  tables: readonly CopiedTable[];
}

const same = (...columns: string[]) => columns.map((column) => [column, column] as const);

/** The app that owns the data of a replica. */
export const OWNER_APPS = {
  users: 'gateway',
  catalog: 'catalog',
  custom_field: 'custom-field',
} as const satisfies Record<ReplicaOwner, AppName>;

export const REPLICAS: readonly Replica[] = [
  {
    holder: 'incident',
    owner: 'users',
    tables: [{ table: 'replica_users', source: 'users', columns: same('id', 'active') }],
  },
  {
    holder: 'catalog',
    owner: 'users',
    tables: [{ table: 'replica_users', source: 'users', columns: same('id', 'email', 'name', 'active') }],
  },
  {
    holder: 'incident',
    owner: 'catalog',
    tables: [
      { table: 'replica_teams', source: 'teams', columns: same('id', 'name', 'slug', 'archived_at') },
      {
        table: 'replica_services',
        source: 'services',
        columns: same('id', 'slug', 'tier', 'owner_team_id', 'archived_at'),
      },
    ],
  },
  {
    holder: 'incident',
    owner: 'custom_field',
    tables: [
      {
        table: 'replica_fields',
        source: 'definitions',
        columns: [
          ...same('id', 'slug', 'archived_at'),
          [`definition ->> 'name'`, 'name'],
          [`(definition ->> 'revision')::bigint`, 'revision'],
        ],
      },
    ],
  },
];
