import type { Knex } from '@tocsin/postgres';
import type { Sealed } from '@tocsin/runtime';

export const CIPHERTEXT_KINDS = ['secret', 'url'] as const;
export type CiphertextKind = (typeof CIPHERTEXT_KINDS)[number];

/** A stored ciphertext and the subscription whose ID it is bound to. */
export interface StoredCiphertext {
  kind: CiphertextKind;
  /** ID of the secret or of the subscription. */
  rowId: number | string;
  subscriptionId: string;
  sealed: Sealed;
}

/** `after`: the ID of the last row of the previous page; undefined for the first page. */
export interface Page {
  after: number | string | undefined;
  limit: number;
}

interface CiphertextRow {
  row_id: number | string;
  subscription_id: string;
  key_id: string;
  ciphertext: Buffer;
}

/** Where each kind is stored. */
const LOCATIONS = {
  secret: { table: 'secrets', subscriptionId: 'subscription_id', keyId: 'key_id', bytes: 'ciphertext' },
  url: { table: 'subscriptions', subscriptionId: 'id', keyId: 'url_key_id', bytes: 'url_ciphertext' },
} as const;

/** Signing secrets and receiver URLs by the key that encrypted them, over a pool or a transaction. */
export function ciphertextStore(db: Knex) {
  return {
    async hasAny(): Promise<boolean> {
      const secret: unknown = await db('secrets').first('id');
      return (
        secret !== undefined || (await db('subscriptions').whereNotNull('url_ciphertext').first('id')) !== undefined
      );
    },

    /** The next ID, in the database's order, of a key that encrypted any row. */
    async nextKeyId(kind: CiphertextKind, after: string): Promise<string | undefined> {
      const { table, keyId } = LOCATIONS[kind];
      const row = await db(table)
        .where(keyId, '>', after)
        .orderBy(keyId)
        .first<{ key_id: string } | undefined>({ key_id: keyId });
      return row?.key_id;
    },

    /**
     * Rows that this key encrypted, in the order of their IDs, locked until the transaction ends. Rows that another
     * transaction has locked are skipped.
     */
    async encryptedBy(kind: CiphertextKind, key: string, { after, limit }: Page): Promise<StoredCiphertext[]> {
      const { table, subscriptionId, keyId, bytes } = LOCATIONS[kind];
      const rows = await db(table)
        .where(keyId, key)
        .where((page) => void (after !== undefined && page.where('id', '>', after)))
        .orderBy('id')
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select<CiphertextRow[]>({ row_id: 'id', subscription_id: subscriptionId, key_id: keyId, ciphertext: bytes });
      return rows.map((row) => ({
        kind,
        rowId: row.row_id,
        subscriptionId: row.subscription_id,
        sealed: { keyId: row.key_id, ciphertext: row.ciphertext },
      }));
    },

    /** The rows with the highest IDs. */
    async latest(kind: CiphertextKind, limit: number): Promise<StoredCiphertext[]> {
      const { table, subscriptionId, keyId, bytes } = LOCATIONS[kind];
      const rows = await db(table)
        .whereNotNull(keyId)
        .orderBy(kind === 'url' ? 'seq' : 'id', 'desc')
        .limit(limit)
        .select<CiphertextRow[]>({ row_id: 'id', subscription_id: subscriptionId, key_id: keyId, ciphertext: bytes });
      return rows.map((row) => ({
        kind,
        rowId: row.row_id,
        subscriptionId: row.subscription_id,
        sealed: { keyId: row.key_id, ciphertext: row.ciphertext },
      }));
    },

    async replace({ kind, rowId }: StoredCiphertext, sealed: Sealed): Promise<void> {
      const { table, keyId, bytes } = LOCATIONS[kind];
      await db(table)
        .where({ id: rowId })
        .update({ [keyId]: sealed.keyId, [bytes]: sealed.ciphertext });
    },
  };
}
