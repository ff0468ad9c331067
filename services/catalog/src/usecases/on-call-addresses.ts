import type { Knex } from '@tocsin/postgres';
import { Gauge, type Keyring, type Logger, type Metrics, openKeyring } from '@tocsin/runtime';
import type { OnCallAddress } from '../domain/on-call.ts';
import { type SealedAddress, sealedAddresses } from '../store/on-call-store.ts';

/** The purpose of the keys that seal addresses. */
const ON_CALL_PURPOSE = 'on-call-source';

/** Seals addresses of sources; each is bound to its team. */
export interface AddressCipher {
  seal(address: OnCallAddress, source: Pick<SealedAddress, 'workspaceId' | 'teamId'>): SealedAddress['sealed'];
  /** Undefined: no configured key opens it, or it is damaged. */
  open(source: SealedAddress): OnCallAddress | undefined;
  keyring: Keyring;
}

/** @throws ConfigError when the keys are malformed, or none of them serves this purpose */
export function addressCipher(secretKeys: string): AddressCipher {
  const keyring = openKeyring(secretKeys, ON_CALL_PURPOSE);
  const contextOf = ({ workspaceId, teamId }: Pick<SealedAddress, 'workspaceId' | 'teamId'>) =>
    `${workspaceId}/${teamId}`;
  return {
    keyring,
    seal: ({ url, credential }, source) => keyring.seal(JSON.stringify({ url, credential }), contextOf(source)),
    open: (source) => {
      try {
        return JSON.parse(keyring.open(source.sealed, contextOf(source))) as OnCallAddress;
      } catch {
        return undefined;
      }
    },
  };
}

/** Workspaces in one log line. */
const MAX_LOGGED = 100;

/** Seals addresses with the current key, and reports those that no configured key opens: somebody has to set them again. */
export function addressRotation(options: {
  database: Knex;
  cipher: AddressCipher;
  log: Logger;
  metrics: Metrics;
}): () => Promise<boolean> {
  const { database, cipher, log, metrics } = options;
  const gauge = new Gauge({
    name: 'tocsin_on_call_unopened_addresses',
    help: 'Teams whose source of who is on call no configured key opens',
    registers: [metrics],
  });
  return async () => {
    const unopened = await database.transaction(async (trx) => {
      const store = sealedAddresses(trx);
      const left: SealedAddress[] = [];
      for (const source of await store.sealedByOthers(cipher.keyring.currentKeyId)) {
        const address = cipher.open(source);
        if (address === undefined) left.push(source);
        else await store.replace({ ...source, sealed: cipher.seal(address, source) });
      }
      return left;
    });
    gauge.set(unopened.length);
    if (unopened.length > 0) {
      const workspaces = [...new Set(unopened.map(({ workspaceId }) => workspaceId))].slice(0, MAX_LOGGED);
      const fields = { count: unopened.length, workspaces };
      log.error(fields, 'cannot open the addresses of who is on call: their key is not configured');
    }
    return false;
  };
}
