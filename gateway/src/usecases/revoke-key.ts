import { notFound } from '@tocsin/http';
import type { Instant, Knex } from '@tocsin/runtime';
import { announceChange } from '../store/change-notice.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';

/** Makes a key's token invalid for good, in every gateway within a second (contract: Administration). */
export async function revokeKey(trx: Knex.Transaction, id: number, now: Instant): Promise<ApiKey> {
  const key = await keyStore(trx).revoke(id, now);
  if (key === undefined) throw notFound(`The key ${id}`);
  await announceChange(trx);
  return key;
}
