import { type Keyring, openKeyring, type Sealed } from '@tocsin/runtime';
import { type Destination, readDestination } from '../requests/domain/destination.ts';

/** A secret or URL that the configured keys do not decrypt: the key is missing, or the ciphertext is damaged. */
export class UndecryptableError extends Error {}

/** Encrypts secrets and URLs. A ciphertext can be decrypted only for the subscription that it was encrypted for. */
export interface SecretCipher {
  /** ID of the key that encrypts now. */
  currentKeyId: string;
  encryptSecret(secret: string, subscriptionId: string): Sealed;
  /** @throws UndecryptableError when the key is not configured, or the ciphertext is damaged or of another subscription */
  decryptSecret(ciphertext: Sealed, subscriptionId: string): string;
  /** @param url with the headers of the receiver: see `destinationText` */
  encryptUrl(url: string, subscriptionId: string): Sealed;
  /** @throws UndecryptableError like `decryptSecret` */
  decryptUrl(ciphertext: Sealed, subscriptionId: string): string;
  /** What `decryptUrl` returns, read. @throws UndecryptableError like `decryptSecret` */
  decryptDestination(ciphertext: Sealed, subscriptionId: string): Destination;
}

/** @throws ConfigError when the keys are malformed, or none of them serves these purposes */
export function secretCipher(secretKeys: string): SecretCipher {
  const secrets = openKeyring(secretKeys, 'webhook-secret');
  const urls = openKeyring(secretKeys, 'webhook-url');
  const decryptUrl = opening(urls);
  return {
    currentKeyId: secrets.currentKeyId,
    encryptSecret: secrets.seal,
    decryptSecret: opening(secrets),
    encryptUrl: urls.seal,
    decryptUrl,
    decryptDestination: (ciphertext, subscriptionId) => readDestination(decryptUrl(ciphertext, subscriptionId)),
  };
}

const opening =
  ({ open }: Keyring) =>
  (ciphertext: Sealed, subscriptionId: string): string => {
    try {
      return open(ciphertext, subscriptionId);
    } catch (error) {
      throw new UndecryptableError('cannot decrypt what belongs to a webhook', { cause: error });
    }
  };
