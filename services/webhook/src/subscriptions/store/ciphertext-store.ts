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

/** Where each kind is stored. */
const LOCATIONS = {
  secret: { table: 'secrets', subscriptionId: 'subscription_id', keyId: 'key_id', bytes: 'ciphertext' },
  url: { table: 'subscriptions', subscriptionId: 'id', keyId: 'url_key_id', bytes: 'url_ciphertext' },
} as const;

const read = async (
  db: Knex,
  kind: CiphertextKind,
  where: (rows: Knex.QueryBuilder) => void,
): Promise<StoredCiphertext[]> => {
  const { table, subscriptionId, keyId, bytes } = LOCATIONS[kind];
  const rows = await db(table).modify(where).select<(Sealed & Pick<StoredCiphertext, 'rowId' | 'subscriptionId'>)[]>({
    rowId: 'id',
    subscriptionId,
    keyId,
    ciphertext: bytes,
  });
  return rows.map(({ keyId, ciphertext, ...row }) => ({ kind, ...row, sealed: { keyId, ciphertext } }));
};

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
      const [id] = await db(table).where(keyId, '>', after).orderBy(keyId).limit(1).pluck<string[]>(keyId);
      return id;
    },

    /**
     * Rows that this key encrypted, in the order of their IDs, locked until the transaction ends. Rows that another
     * transaction has locked are skipped.
     */
    encryptedBy: async (kind: CiphertextKind, key: string, { after, limit }: Page): Promise<StoredCiphertext[]> =>
      read(db, kind, (rows) => {
        void rows.where(LOCATIONS[kind].keyId, key).orderBy('id').limit(limit).forUpdate().skipLocked();
        if (after !== undefined) void rows.where('id', '>', after);
      }),

    /** The rows with the highest IDs. */
    latest: async (kind: CiphertextKind, limit: number): Promise<StoredCiphertext[]> =>
      read(db, kind, (rows) => {
        const order = kind === 'url' ? 'seq' : 'id';
        void rows.whereNotNull(LOCATIONS[kind].keyId).orderBy(order, 'desc').limit(limit);
      }),

    async replace({ kind, rowId }: StoredCiphertext, sealed: Sealed): Promise<void> {
      const { table, keyId, bytes } = LOCATIONS[kind];
      await db(table)
        .where({ id: rowId })
        .update({ [keyId]: sealed.keyId, [bytes]: sealed.ciphertext });
    },
  };
}
