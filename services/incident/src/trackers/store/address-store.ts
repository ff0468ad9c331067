import { type Knex, query } from '@tocsin/postgres';
import type { Sealed } from '@tocsin/runtime';
import type { SealedPage } from '@tocsin/service-host';

/** The sealed address of a tracker. */
export interface SealedAddress extends Sealed {
  workspaceId: number;
  id: number;
}

const SELECT = `select workspace_id as "workspaceId", id, key_id as "keyId", ciphertext from trackers
  where key_id is not null`;

/** The sealed addresses of the trackers of all workspaces. */
export function addressStore(db: Knex) {
  return {
    async hasAny(): Promise<boolean> {
      return (await query(db, { text: `${SELECT} limit 1` })).length > 0;
    },

    listLatest: async (limit: number): Promise<SealedAddress[]> =>
      query<SealedAddress>(db, { text: `${SELECT} order by id desc limit $1`, values: [limit] }),

    /** Lists and locks those behind an ID that another key has sealed; skips locked rows. */
    listSealedWithOtherKeys: async (keyId: string, { after, limit }: SealedPage) =>
      query<SealedAddress>(db, {
        text: `${SELECT} and (key_id < $1 or key_id > $1) and id > $2 order by id limit $3 for update skip locked`,
        values: [keyId, after, limit],
      }),

    async replace({ workspaceId, id }: SealedAddress, { keyId, ciphertext }: Sealed): Promise<void> {
      await query(db, {
        text: 'update trackers set key_id = $3, ciphertext = $4 where workspace_id = $1 and id = $2',
        values: [workspaceId, id, keyId, ciphertext],
      });
    },
  };
}
