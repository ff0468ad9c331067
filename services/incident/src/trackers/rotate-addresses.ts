import type { Keyring } from '@tocsin/runtime';
import { sealAgain, type SealingDependencies } from '@tocsin/service-host';
import { openAddress, sealAddress } from './address.ts';
import type { Address } from './domain/tracker.ts';
import { addressStore, type SealedAddress } from './store/address-store.ts';

/** Seals addresses of trackers with the current key; trackers whose address no configured key opens have to be replaced. */
export const trackerAddressRotation = ({
  trackerKeys,
  ...dependencies
}: SealingDependencies & { trackerKeys: Keyring }) =>
  sealAgain<SealedAddress, Address>(dependencies, {
    gauge: { name: 'tocsin_trackers_unopened', help: 'Trackers whose address no configured key opens' },
    message: 'cannot open addresses of trackers: their key is not configured',
    idOf: ({ id }) => id,
    list: async (trx, page) => addressStore(trx).listSealedWithOtherKeys(trackerKeys.currentKeyId, page),
    open: (sealed) => openAddress(trackerKeys, sealed.id, sealed),
    replace: async (trx, sealed, address) =>
      addressStore(trx).replace(sealed, sealAddress(trackerKeys, sealed.id, address)),
  });
