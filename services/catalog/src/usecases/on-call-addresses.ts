import { type Keyring, openKeyring } from '@tocsin/runtime';
import { sealAgain, type SealingDependencies } from '@tocsin/service-host';
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
      const text = keyring.tryOpen(source.sealed, contextOf(source));
      return text === undefined ? undefined : (JSON.parse(text) as OnCallAddress);
    },
  };
}

/** Seals addresses with the current key; those that no configured key opens have to be set again. */
export const addressRotation = (dependencies: SealingDependencies & { cipher: AddressCipher }) => {
  const { keyring, open, seal } = dependencies.cipher;
  return sealAgain<SealedAddress, OnCallAddress>(dependencies, {
    gauge: {
      name: 'tocsin_on_call_unopened_addresses',
      help: 'Teams whose source of who is on call no configured key opens',
    },
    message: 'cannot open the addresses of who is on call: their key is not configured',
    idOf: ({ teamId }) => teamId,
    list: async (trx, page) => sealedAddresses(trx).sealedByOthers(keyring.currentKeyId, page),
    open,
    replace: async (trx, source, address) => sealedAddresses(trx).replace({ ...source, sealed: seal(address, source) }),
  });
};
