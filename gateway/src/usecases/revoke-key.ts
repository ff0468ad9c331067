import { notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';

/** Revokes a key for good; every gateway refuses its token within a second (contract: Administration). */
export async function revokeKey(trx: Knex.Transaction, id: number, now: Instant): Promise<ApiKey> {
  const key = await keyStore(trx).revoke(id, now);
  if (key === undefined) throw notFound(`The key ${id}`);
  await announceIdentityChange(trx);
  return key;
}
