import { type Knex, query } from '@tocsin/postgres';
import type { Sealed } from '@tocsin/runtime';

export const CIPHERTEXT_KINDS = ['secret', 'url', 'destination'] as const;
export type CiphertextKind = (typeof CIPHERTEXT_KINDS)[number];

/** A stored ciphertext and the subscription or destination whose ID it is bound to. */
export interface StoredCiphertext {
  kind: CiphertextKind;
  workspaceId: number;
  /** ID of the secret, the subscription or the destination. */
  rowId: number | string;
  subscriptionId: string;
  sealed: Sealed;
}

/** `after`: the ID of the last row of the previous page; undefined for the first page. */
export interface Page {
  after: number | string | undefined;
  limit: number;
}

/** Where each kind is stored. */
const LOCATIONS = {
  secret: { table: 'secrets', subscriptionId: 'subscription_id', keyId: 'key_id', bytes: 'ciphertext', order: 'id' },
  url: { table: 'subscriptions', subscriptionId: 'id', keyId: 'url_key_id', bytes: 'url_ciphertext', order: 'seq' },
  destination: { table: 'destinations', subscriptionId: 'id::text', keyId: 'key_id', bytes: 'ciphertext', order: 'id' },
} as const;
/** Before the IDs of all rows. */
const BEFORE_ALL = { secret: 0, url: '', destination: 0 } as const;

/** @param condition what follows the table's name */
async function read(
  db: Knex,
  kind: CiphertextKind,
  { condition, values }: { condition: string; values: readonly unknown[] },
): Promise<StoredCiphertext[]> {
  const { table, subscriptionId, keyId, bytes } = LOCATIONS[kind];
  const rows = await query<Sealed & Pick<StoredCiphertext, 'workspaceId' | 'rowId' | 'subscriptionId'>>(db, {
    text: `select workspace_id as "workspaceId", id as "rowId", ${subscriptionId} as "subscriptionId", ${keyId} as "keyId", ${bytes} as ciphertext
      from ${table} ${condition}`,
    values,
  });
  return rows.map(({ keyId, ciphertext, ...row }) => ({ kind, ...row, sealed: { keyId, ciphertext } }));
}

/** Signing secrets and receiver URLs by the key that encrypted them, over a pool or a transaction. */
export function ciphertextStore(db: Knex) {
  return {
    async hasAny(): Promise<boolean> {
      const [row] = await query<{ exists: boolean }>(db, {
        text: `select exists (select from secrets)
          or exists (select from subscriptions where url_ciphertext is not null)
          or exists (select from destinations where ciphertext is not null) as exists`,
      });
      return row?.exists === true;
    },

    /** The next ID, in the database's order, of a key that encrypted any row. */
    async nextKeyId(kind: CiphertextKind, after: string): Promise<string | undefined> {
      const { table, keyId } = LOCATIONS[kind];
      const [row] = await query<{ id: string }>(db, {
        text: `select ${keyId} as id from ${table} where ${keyId} > $1 order by ${keyId} limit 1`,
        values: [after],
      });
      return row?.id;
    },

    /**
     * Rows that this key encrypted, in the order of their IDs, locked until the transaction ends. Rows that another
     * transaction has locked are skipped.
     */
    encryptedBy: async (kind: CiphertextKind, key: string, { after, limit }: Page): Promise<StoredCiphertext[]> =>
      read(db, kind, {
        condition: `where ${LOCATIONS[kind].keyId} = $1 and id > $2 order by id limit $3 for update skip locked`,
        values: [key, after ?? BEFORE_ALL[kind], limit],
      }),

    /** The rows with the highest IDs. */
    latest: async (kind: CiphertextKind, limit: number): Promise<StoredCiphertext[]> =>
      read(db, kind, {
        condition: `where ${LOCATIONS[kind].keyId} is not null order by ${LOCATIONS[kind].order} desc limit $1`,
        values: [limit],
      }),

    async replace({ kind, workspaceId, rowId }: StoredCiphertext, sealed: Sealed): Promise<void> {
      const { table, keyId, bytes } = LOCATIONS[kind];
      await query(db, {
        text: `update ${table} set ${keyId} = $3, ${bytes} = $4 where workspace_id = $1 and id = $2`,
        values: [workspaceId, rowId, sealed.keyId, sealed.ciphertext],
      });
    },
  };
}
