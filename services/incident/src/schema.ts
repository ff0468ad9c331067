import path from 'node:path';

export const schema = {
  name: 'incident',
  migrations: path.join(import.meta.dirname, '../migrations'),
  copies: {
    gateway: { replica_users: 'users' },
    catalog: { replica_teams: 'teams', replica_services: 'services' },
    'custom-field': { replica_fields: 'definitions' },
  },
  largest: ['incidents', 'changelog', 'timeline_events', 'incident_values'],
  workspaces: ['incident_counters', 'replica_versions'],
} as const;
