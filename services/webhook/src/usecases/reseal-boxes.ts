import { sealedStore } from '../store/sealed-store.ts';
import type { Tools } from './context.ts';

const BATCH = 100;

/**
 * Seals with the current key what older ones sealed, so that those can be taken out of the settings in the end; answers whether
 * there may be more.
 */
export async function resealBoxes({ database, vault }: Pick<Tools, 'database' | 'vault'>): Promise<boolean> {
  return database.transaction(async (trx) => {
    const store = sealedStore(trx);
    const boxes = await store.sealedByOthers(vault.keyId, BATCH);
    for (const box of boxes) {
      const { kind, subscriptionId: id, sealed } = box;
      const fresh =
        kind === 'secret'
          ? vault.sealSecret(vault.openSecret(sealed, id), id)
          : vault.sealUrl(vault.openUrl(sealed, id), id);
      await store.replace(box, fresh);
    }
    return boxes.length >= BATCH;
  });
}
