import type { Knex } from '@tocsin/postgres';
import { type Keyring, type Logger, openKeyring } from '@tocsin/runtime';
import { type OidcProvider, oidcProviderStore } from '../store/oidc-provider-store.ts';

/** Encrypts the secrets of clients at their providers, and what a browser keeps while somebody signs in. */
const OIDC_PURPOSE = 'oidc';

export const oidcKeyring = (secretKeys: string): Keyring => openKeyring(secretKeys, OIDC_PURPOSE);

/** A secret is bound to its workspace. */
const contextOf = (workspaceId: number) => `secret ${workspaceId}`;

export const sealSecret = (keyring: Keyring, workspaceId: number, secret: string) =>
  keyring.seal(secret, contextOf(workspaceId));

/** Returns `undefined` if no configured key opens the secret. */
export function openSecret(keyring: Keyring, { workspaceId, secret }: OidcProvider): string | undefined {
  try {
    return keyring.open(secret, contextOf(workspaceId));
  } catch {
    return undefined;
  }
}

/** Encrypts all secrets with the current key, and reports those that no key opens. */
export const secretRotation =
  ({ database, keyring, log }: { database: Knex; keyring: Keyring; log: Logger }) =>
  async (): Promise<boolean> =>
    database.transaction(async (trx) => {
      const store = oidcProviderStore(trx);
      for (const provider of await store.listEncryptedWithOtherKeys(keyring.currentKeyId)) {
        const { workspaceId } = provider;
        const secret = openSecret(keyring, provider);
        if (secret !== undefined) await store.replaceSecret(workspaceId, sealSecret(keyring, workspaceId, secret));
        else
          log.error({ workspace: workspaceId }, 'cannot decrypt the client secret of OIDC: its key is not configured');
      }
      return false;
    });

/** Secrets that no key opens, of those of the workspaces with the highest IDs. */
export async function countUnopenedSecrets(
  database: Knex,
  { secretKeys, limit }: { secretKeys: string; limit: number },
): Promise<{ checked: number; unopened: number }> {
  const keyring = oidcKeyring(secretKeys);
  const providers = await oidcProviderStore(database).listLatest(limit);
  return {
    checked: providers.length,
    unopened: providers.filter((provider) => openSecret(keyring, provider) === undefined).length,
  };
}
