import type { PersonalDataRequest } from '@tocsin/schemas';
import type { PersonalTables } from '@tocsin/service-host';
import type { Knex } from '@tocsin/postgres';
import { userVersion } from '../store/user-store.ts';

const TEXTS = ['name', 'description'];

/** What the service keeps about persons. The replica of a user follows from events. */
export const PERSONAL_TABLES: PersonalTables = {
  replica_users: { users: ['id'] },
  team_members: { users: ['user_id'] },
  on_call_sources: { json: ['shifts'] },
  teams: { texts: TEXTS, place: { kind: 'team', id: 'id' } },
  services: { texts: [...TEXTS, 'tags'], place: { kind: 'service', id: 'id' } },
  idempotency_keys: { users: ['user_id'], json: ['body'] },
  outbox: { json: ['body'] },
  dead_letters: { json: ['body'] },
};

/** Whether the replica has no user, or the erased one. */
export async function isUserErased(database: Knex, { workspace, user_id: id, version }: PersonalDataRequest) {
  const stored = await userVersion(database, workspace.id, id);
  return stored === undefined || stored >= version;
}
