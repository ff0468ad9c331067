import type { Knex } from '@tocsin/postgres';
import { Gauge, type Keyring, type Logger, type Metrics, openKeyring } from '@tocsin/runtime';
import { type OidcProvider, oidcProviderStore } from './store/oidc-provider-store.ts';

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

/** Workspaces in one log line. */
const MAX_LOGGED = 100;

/** Encrypts all secrets with the current key, and reports those that no configured key opens: connect their providers again. */
export function secretRotation(options: {
  database: Knex;
  keyring: Keyring;
  log: Logger;
  metrics: Metrics;
}): () => Promise<boolean> {
  const { database, keyring, log, metrics } = options;
  const gauge = new Gauge({
    name: 'tocsin_oidc_unopened_secrets',
    help: 'Workspaces whose client secret at their OpenID Connect provider no configured key opens',
    registers: [metrics],
  });
  return async () =>
    database.transaction(async (trx) => {
      const store = oidcProviderStore(trx);
      const unopened: number[] = [];
      for (const provider of await store.listEncryptedWithOtherKeys(keyring.currentKeyId)) {
        const { workspaceId } = provider;
        const secret = openSecret(keyring, provider);
        if (secret === undefined) unopened.push(workspaceId);
        else await store.replaceSecret(workspaceId, sealSecret(keyring, workspaceId, secret));
      }
      gauge.set(unopened.length);
      if (unopened.length > 0) {
        const workspaces = unopened.slice(0, MAX_LOGGED);
        log.error({ count: unopened.length, workspaces }, 'cannot open client secrets of OIDC: their key is missing');
      }
      return false;
    });
}

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
