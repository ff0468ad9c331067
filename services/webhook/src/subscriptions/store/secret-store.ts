import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';

const VALID_AT = `
  select key_id as "keyId", ciphertext from secrets
  where subscription_id = $1 and (expires_at is null or expires_at > $2) order by id desc`;

/** The signing secrets of one subscription: the current one and, until its overlap ends, the previous one. */
export function secretStore(db: Knex, subscriptionId: string) {
  const own = () => db('secrets').where({ subscription_id: subscriptionId });
  return {
    async add(sealed: Sealed, now: Instant): Promise<void> {
      await db('secrets').insert({
        subscription_id: subscriptionId,
        key_id: sealed.keyId,
        ciphertext: sealed.ciphertext,
        created_at: now,
      });
    },

    /** Makes the current secret the previous one, and deletes the one that was previous before. */
    async retireCurrent(expiresAt: Instant): Promise<void> {
      await own().whereNotNull('expires_at').delete();
      await own().whereNull('expires_at').update({ expires_at: expiresAt });
    },

    /** The secrets that are valid at `now`, the current one first. Empty for a revoked subscription. */
    validAt: async (now: Instant): Promise<Sealed[]> =>
      query<Sealed>(db, { name: 'find-secrets', text: VALID_AT, values: [subscriptionId, now] }),

    async deleteAll(): Promise<void> {
      await own().delete();
    },
  };
}

/** Deletes previous secrets whose overlap has ended. */
export async function forgetExpiredSecrets(db: Knex, now: Instant): Promise<void> {
  await db('secrets').where('expires_at', '<=', now).delete();
}
