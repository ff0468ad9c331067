import type { Instant, Knex, Sealed } from '@tocsin/runtime';

/** The signing secrets of one subscription: the current one and, for its overlap, the previous one. */
export function secretStore(db: Knex, subscriptionId: string) {
  const own = () => db('secrets').where({ subscription_id: subscriptionId });
  return {
    async add(secret: Sealed, now: Instant): Promise<void> {
      await db('secrets').insert({
        subscription_id: subscriptionId,
        key_id: secret.keyId,
        box: secret.box,
        created_at: now,
      });
    },

    /** Makes the current one the previous one, which ends whatever was that before. */
    async retireCurrent(expiresAt: Instant): Promise<void> {
      await own().whereNotNull('expires_at').delete();
      await own().whereNull('expires_at').update({ expires_at: expiresAt });
    },

    /** What signs at `now`, the current one first. Empty for a revoked subscription. */
    async signing(now: Instant): Promise<Sealed[]> {
      const rows = await own()
        .where((valid) => void valid.whereNull('expires_at').orWhere('expires_at', '>', now))
        .orderBy('id', 'desc')
        .select<{ key_id: string; box: Buffer }[]>('key_id', 'box');
      return rows.map(({ key_id, box }) => ({ keyId: key_id, box }));
    },

    async forgetAll(): Promise<void> {
      await own().delete();
    },
  };
}

/** Forgets previous secrets whose overlap is over. */
export async function forgetExpiredSecrets(db: Knex, now: Instant): Promise<void> {
  await db('secrets').where('expires_at', '<=', now).delete();
}
