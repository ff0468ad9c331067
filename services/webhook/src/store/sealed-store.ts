import type { Knex, Sealed } from '@tocsin/runtime';

/** A box, where it stands, and the subscription that it was sealed for. */
export interface StoredBox {
  kind: 'secret' | 'url';
  /** Of the secret, or of the subscription. */
  rowId: number | string;
  subscriptionId: string;
  sealed: Sealed;
}

interface BoxRow {
  row_id: number | string;
  subscription_id: string;
  key_id: string;
  box: Buffer;
}

/** Boxes whatever they hold, by the key that sealed them. */
export function sealedStore(trx: Knex.Transaction) {
  const boxes = (kind: StoredBox['kind'], rows: BoxRow[]): StoredBox[] =>
    rows.map((row) => ({
      kind,
      rowId: row.row_id,
      subscriptionId: row.subscription_id,
      sealed: { keyId: row.key_id, box: row.box },
    }));
  return {
    /** Some that another key than this one sealed, locked until the transaction ends. */
    async sealedByOthers(keyId: string, limit: number): Promise<StoredBox[]> {
      const secrets = await trx('secrets')
        .whereNot({ key_id: keyId })
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select<BoxRow[]>({ row_id: 'id' }, 'subscription_id', 'key_id', 'box');
      const urls = await trx('subscriptions')
        .whereNot({ url_key_id: keyId })
        .limit(limit)
        .forUpdate()
        .skipLocked()
        .select<BoxRow[]>({ row_id: 'id', subscription_id: 'id', key_id: 'url_key_id', box: 'url_box' });
      return [...boxes('secret', secrets), ...boxes('url', urls)];
    },

    async replace({ kind, rowId }: StoredBox, { keyId, box }: Sealed): Promise<void> {
      if (kind === 'secret') await trx('secrets').where({ id: rowId }).update({ key_id: keyId, box });
      else await trx('subscriptions').where({ id: rowId }).update({ url_key_id: keyId, url_box: box });
    },
  };
}
