import type { PersonalTables } from '@tocsin/service-host';

/** What the gateway keeps about persons besides the row of the user, which the erasure itself changes. */
export const PERSONAL_TABLES: PersonalTables = {
  users: { users: ['id'] },
  api_keys: { users: ['user_id'], people: ['name'], texts: ['name'], place: { kind: 'api_key', id: 'id' } },
  login_links: { users: ['user_id'] },
  oidc_identities: { users: ['user_id'] },
  saved_views: { users: ['user_id'], json: ['views'] },
  audit_log: {
    users: ['user_id', 'target_id'],
    json: ['before', 'after'],
    place: { kind: 'audit_entry', id: 'id' },
  },
  idempotency_keys: { users: ['user_id'], json: ['body'] },
  outbox: { json: ['body'] },
  dead_letters: { json: ['body'] },
};
