import { openKeyring, type Sealed } from '@tocsin/runtime';

/** Seals what must be readable by us alone; each box opens only for the subscription that it was sealed for. */
export interface Vault {
  /** The ID of the key that seals now. */
  keyId: string;
  sealSecret(secret: string, subscriptionId: string): Sealed;
  openSecret(sealed: Sealed, subscriptionId: string): string;
  sealUrl(url: string, subscriptionId: string): Sealed;
  openUrl(sealed: Sealed, subscriptionId: string): string;
}

export function vault(secretKeys: string): Vault {
  const secrets = openKeyring(secretKeys, 'webhook-secret');
  const urls = openKeyring(secretKeys, 'webhook-url');
  return {
    keyId: secrets.currentKeyId,
    sealSecret: secrets.seal,
    openSecret: secrets.open,
    sealUrl: urls.seal,
    openUrl: urls.open,
  };
}
