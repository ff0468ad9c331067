import { openKeyring, type Sealed } from '@tocsin/runtime';

/** Encrypts secrets and URLs. A ciphertext can be decrypted only for the subscription that it was encrypted for. */
export interface SecretCipher {
  /** ID of the key that encrypts now. */
  currentKeyId: string;
  encryptSecret(secret: string, subscriptionId: string): Sealed;
  /** Throws when the key is not configured, or the ciphertext is damaged or of another subscription. */
  decryptSecret(ciphertext: Sealed, subscriptionId: string): string;
  encryptUrl(url: string, subscriptionId: string): Sealed;
  /** Throws as `decryptSecret` does. */
  decryptUrl(ciphertext: Sealed, subscriptionId: string): string;
}

/** @throws ConfigError when the keys are malformed, or none of them serves these purposes */
export function secretCipher(secretKeys: string): SecretCipher {
  const secrets = openKeyring(secretKeys, 'webhook-secret');
  const urls = openKeyring(secretKeys, 'webhook-url');
  return {
    currentKeyId: secrets.currentKeyId,
    encryptSecret: secrets.seal,
    decryptSecret: secrets.open,
    encryptUrl: urls.seal,
    decryptUrl: urls.open,
  };
}
