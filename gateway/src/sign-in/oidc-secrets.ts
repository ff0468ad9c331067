import type { Knex } from '@tocsin/postgres';
import { type Keyring, openKeyring } from '@tocsin/runtime';
import { sealAgain, type SealingDependencies } from '@tocsin/service-host';
import { type OidcProvider, oidcProviderStore } from './store/oidc-provider-store.ts';

/** Encrypts the secrets of clients at their providers, and what a browser keeps while somebody signs in. */
const OIDC_PURPOSE = 'oidc';

export const oidcKeyring = (secretKeys: string): Keyring => openKeyring(secretKeys, OIDC_PURPOSE);

/** A secret is bound to its workspace. */
const contextOf = (workspaceId: number) => `secret ${workspaceId}`;

export const sealSecret = (keyring: Keyring, workspaceId: number, secret: string) =>
  keyring.seal(secret, contextOf(workspaceId));

/** Returns `undefined` if no configured key opens the secret. */
export const openSecret = (keyring: Keyring, { workspaceId, secret }: OidcProvider): string | undefined =>
  keyring.tryOpen(secret, contextOf(workspaceId));

/** Encrypts secrets with the current key; providers whose secret no configured key opens have to be connected again. */
export const secretRotation = ({ keyring, ...dependencies }: SealingDependencies & { keyring: Keyring }) =>
  sealAgain<OidcProvider, string>(dependencies, {
    gauge: {
      name: 'tocsin_oidc_unopened_secrets',
      help: 'Workspaces whose client secret at their OpenID Connect provider no configured key opens',
    },
    message: 'cannot open client secrets of OIDC: their key is missing',
    idOf: ({ workspaceId }) => workspaceId,
    list: async (trx, page) => oidcProviderStore(trx).listEncryptedWithOtherKeys(keyring.currentKeyId, page),
    open: (provider) => openSecret(keyring, provider),
    replace: async (trx, { workspaceId }, secret) =>
      oidcProviderStore(trx).replaceSecret(workspaceId, sealSecret(keyring, workspaceId, secret)),
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
