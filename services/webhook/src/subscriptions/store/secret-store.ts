import { type Knex, pipeline, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { Subscription } from '../domain/subscription.ts';

const VALID_AT = `
  select key_id as "keyId", ciphertext from secrets
  where workspace_id = $1 and subscription_id = $2 and (expires_at is null or expires_at > $3) order by id desc`;

/** The signing secrets of one subscription: the current one and, until its overlap ends, the previous one. */
export function secretStore(db: Knex, { workspaceId, id }: Pick<Subscription, 'workspaceId' | 'id'>) {
  const subscription = [workspaceId, id];
  return {
    async add(sealed: Sealed, now: Instant): Promise<void> {
      await query(db, {
        name: 'insert-secret',
        text: `insert into secrets (workspace_id, subscription_id, key_id, ciphertext, created_at)
          values ($1, $2, $3, $4, $5)`,
        values: [...subscription, sealed.keyId, sealed.ciphertext, now],
      });
    },

    /** Makes the current secret the previous one, and deletes the one that was previous before. */
    async retireCurrent(expiresAt: Instant): Promise<void> {
      await pipeline(db, [
        {
          name: 'delete-previous-secret',
          text: 'delete from secrets where workspace_id = $1 and subscription_id = $2 and expires_at is not null',
          values: subscription,
        },
        {
          name: 'retire-current-secret',
          text: `update secrets set expires_at = $3
            where workspace_id = $1 and subscription_id = $2 and expires_at is null`,
          values: [...subscription, expiresAt],
        },
      ]);
    },

    /** The secrets that are valid at `now`, the current one first. Empty for a revoked subscription. */
    validAt: async (now: Instant): Promise<Sealed[]> =>
      query<Sealed>(db, { name: 'find-secrets', text: VALID_AT, values: [...subscription, now] }),

    async deleteAll(): Promise<void> {
      await query(db, {
        name: 'delete-secrets',
        text: 'delete from secrets where workspace_id = $1 and subscription_id = $2',
        values: subscription,
      });
    },
  };
}

/** Deletes previous secrets whose overlap has ended. */
export async function forgetExpiredSecrets(db: Knex, now: Instant): Promise<void> {
  await query(db, { text: 'delete from secrets where expires_at <= $1', values: [now] });
}
