import type { Knex } from '@tocsin/postgres';
import type { WebhookMetrics } from '../queue/metrics.ts';
import {
  CIPHERTEXT_KINDS,
  type CiphertextKind,
  ciphertextStore,
  type StoredCiphertext,
} from './store/ciphertext-store.ts';
import type { SecretCipher } from './secret-cipher.ts';
import type { SubscriptionDependencies } from './subscription-command.ts';

const BATCH = 100;

/** How far a pass has come, and what it could not decrypt so far. */
interface Pass {
  kind: CiphertextKind;
  /** The key whose rows are being read; empty before the first. */
  keyId: string;
  /** ID of the last row that was read of this key; undefined when its rows are done. */
  after: number | string | undefined;
  undecryptable: Record<CiphertextKind, number>;
  undecryptableKeyIds: Set<string>;
}

const newPass = (): Pass => ({
  kind: CIPHERTEXT_KINDS[0],
  keyId: '',
  after: undefined,
  undecryptable: { secret: 0, url: 0, destination: 0 },
  undecryptableKeyIds: new Set(),
});

/**
 * Encrypts with the current key what other keys encrypted, one batch per call, so that operators can remove those
 * keys. It goes from key to key along an index and skips the current one, so a pass that finds nothing makes six
 * index lookups. Rows that cannot be decrypted, because their key is missing or they are damaged, stay as they are;
 * they are counted, and logged at the end of each pass.
 * @returns a function that resolves to whether this pass has more to do
 */
export function encryptionRotation({
  database,
  secretCipher,
  metrics,
  log,
}: Pick<SubscriptionDependencies, 'database' | 'secretCipher' | 'log'> & {
  metrics: Pick<WebhookMetrics, 'undecryptable'>;
}): () => Promise<boolean> {
  let pass = newPass();

  /** Moves the pass to the next key that has rows to read; false when there is none. */
  const findKey = async (): Promise<boolean> => {
    if (pass.after !== undefined) return true;
    const store = ciphertextStore(database);
    let keyId = await store.nextKeyId(pass.kind, pass.keyId);
    if (keyId === secretCipher.currentKeyId) keyId = await store.nextKeyId(pass.kind, keyId);
    pass.keyId = keyId ?? '';
    return keyId !== undefined;
  };

  return async () => {
    if (await findKey()) {
      const { rows, undecryptable } = await database.transaction(async (trx) => rotateBatch(trx, secretCipher, pass));
      pass.undecryptable[pass.kind] += undecryptable.length;
      if (undecryptable.length > 0) pass.undecryptableKeyIds.add(pass.keyId);
      pass.after = rows.length === BATCH ? rows.at(-1)?.rowId : undefined;
      return true;
    }
    const nextKind = CIPHERTEXT_KINDS[CIPHERTEXT_KINDS.indexOf(pass.kind) + 1];
    if (nextKind !== undefined) {
      pass.kind = nextKind;
      return true;
    }

    const { undecryptable, undecryptableKeyIds } = pass;
    for (const kind of CIPHERTEXT_KINDS) metrics.undecryptable.set({ kind }, undecryptable[kind]);
    if (undecryptableKeyIds.size > 0) {
      log.error(
        {
          secrets: undecryptable.secret,
          urls: undecryptable.url,
          destinations: undecryptable.destination,
          keys: [...undecryptableKeyIds],
        },
        'cannot decrypt secrets and URLs that these keys encrypted; leaving them unchanged',
      );
    }
    pass = newPass();
    return false;
  };
}

async function rotateBatch(
  trx: Knex.Transaction,
  cipher: SecretCipher,
  { kind, keyId, after }: Pick<Pass, 'kind' | 'keyId' | 'after'>,
): Promise<{ rows: StoredCiphertext[]; undecryptable: StoredCiphertext[] }> {
  const store = ciphertextStore(trx);
  const rows = await store.encryptedBy(kind, keyId, { after, limit: BATCH });
  const undecryptable: StoredCiphertext[] = [];
  for (const row of rows) {
    const text = decrypt(cipher, row);
    if (text === undefined) undecryptable.push(row);
    else await store.replace(row, encrypt(cipher, row, text));
  }
  return { rows, undecryptable };
}

/** Returns undefined if the key is not configured or the ciphertext is damaged. */
export function decrypt(cipher: SecretCipher, { kind, sealed, subscriptionId }: StoredCiphertext): string | undefined {
  try {
    return kind === 'secret' ? cipher.decryptSecret(sealed, subscriptionId) : cipher.decryptUrl(sealed, subscriptionId);
  } catch {
    return undefined;
  }
}

const encrypt = (cipher: SecretCipher, { kind, subscriptionId }: StoredCiphertext, text: string) =>
  kind === 'secret' ? cipher.encryptSecret(text, subscriptionId) : cipher.encryptUrl(text, subscriptionId);
