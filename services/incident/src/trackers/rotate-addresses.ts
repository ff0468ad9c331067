import type { Knex } from '@tocsin/postgres';
import { Gauge, type Keyring, type Logger, type Metrics } from '@tocsin/runtime';
import { openAddress, sealAddress } from './address.ts';
import { addressStore } from './store/address-store.ts';

/** Trackers in one log line. */
const MAX_LOGGED = 100;

/** Seals addresses of trackers with the current key, and reports those that no configured key opens. */
export function trackerAddressRotation(options: {
  database: Knex;
  trackerKeys: Keyring;
  log: Logger;
  metrics: Metrics;
}): () => Promise<boolean> {
  const { database, trackerKeys, log, metrics } = options;
  const gauge = new Gauge({
    name: 'tocsin_trackers_unopened',
    help: 'Trackers whose address no configured key opens',
    registers: [metrics],
  });
  return async () => {
    const unopened: number[] = [];
    for (let after: number | undefined = 0; after !== undefined;) {
      const from: number = after;
      after = await database.transaction(async (trx) => {
        const store = addressStore(trx);
        const batch = await store.listSealedWithOtherKeys(trackerKeys.currentKeyId, from);
        for (const sealed of batch) {
          const address = openAddress(trackerKeys, sealed.id, sealed);
          if (address === undefined) unopened.push(sealed.id);
          else await store.replace(sealed, sealAddress(trackerKeys, sealed.id, address));
        }
        return batch.at(-1)?.id;
      });
    }
    gauge.set(unopened.length);
    if (unopened.length > 0)
      log.error(
        { count: unopened.length, trackers: unopened.slice(0, MAX_LOGGED) },
        'cannot open addresses of trackers: their key is not configured',
      );
    return false;
  };
}
