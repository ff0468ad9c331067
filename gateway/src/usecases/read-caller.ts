import { MAX_COUNTED_USE, type Principal } from '@tocsin/contracts';
import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Clock } from '@tocsin/runtime';
import { readQuotaUses } from '../clients/quota-uses.ts';
import type { ServicesClient } from '../clients/services-client.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';
import { type User, userStore } from '../store/user-store.ts';
import { type Workspace, workspaceStore } from '../store/workspace-store.ts';

export interface Caller {
  workspace: Workspace;
  user: User;
  key: ApiKey;
  /** What is used of quotas, by their names, as far as it is known. */
  used: Readonly<Record<string, number>>;
}

/** Reads the workspace, the user and the key of a request, and what is used of the quotas (contract: Users). */
export async function readCaller(
  { database, clock, services }: { database: Knex; clock: Clock; services: Pick<ServicesClient, 'ask'> },
  { workspace: { id }, user_id: userId, key_id: keyId }: Principal,
): Promise<Caller> {
  const [workspace, user, key] = await Promise.all([
    workspaceStore(database).find(id),
    userStore(database).find(id, userId),
    keyStore(database).find(keyId),
  ]);
  if (workspace === undefined || user === undefined || key === undefined) {
    throw new DomainError('authentication_required', 'The token is no longer valid');
  }
  const [others, { active: users }, keys] = await Promise.all([
    readQuotaUses(services, id),
    userStore(database).count(id, MAX_COUNTED_USE),
    keyStore(database).countValid(id, clock.now()),
  ]);
  return { workspace, user, key, used: { ...others, users, api_keys: keys } };
}
