import type { AppName } from '../../installation/apps.ts';

/** Whose versions a replica counts, as `replica_versions` of the incident service names them. */
export type ReplicaOwner = 'users' | 'catalog' | 'custom_field';

export interface Replica {
  holder: Extract<AppName, 'incident' | 'catalog'>;
  owner: ReplicaOwner;
  tables: readonly { table: string; source: string }[];
}

/** The app that owns the data of a replica. */
export const OWNER_APPS = {
  users: 'gateway',
  catalog: 'catalog',
  custom_field: 'custom-field',
} as const satisfies Record<ReplicaOwner, AppName>;

export const OWNERS = Object.keys(OWNER_APPS) as readonly ReplicaOwner[];

export const REPLICAS: readonly Replica[] = [
  { holder: 'incident', owner: 'users', tables: [{ table: 'replica_users', source: 'users' }] },
  { holder: 'catalog', owner: 'users', tables: [{ table: 'replica_users', source: 'users' }] },
  {
    holder: 'incident',
    owner: 'catalog',
    tables: [
      { table: 'replica_teams', source: 'teams' },
      { table: 'replica_services', source: 'services' },
    ],
  },
  { holder: 'incident', owner: 'custom_field', tables: [{ table: 'replica_fields', source: 'definitions' }] },
];
