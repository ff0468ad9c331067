import { type Clock, openKeyring } from '@tocsin/runtime';

/** Seconds that the URL of an attachment is good for (contract: Timeline). */
const LIFETIME = 15 * 60;

/** The purpose of the keyring that signs attachments' URLs. */
const PURPOSE = 'attachment-url';

/** A URL to download a file from; empty when the file is not to be had. */
export type AttachmentUrl = (storageKey: string | null) => string;

/**
 * Makes URLs of the form `<base URL>/<storage key>?expires=<Unix seconds>&signature=<base64url>`. What is signed, by
 * HMAC-SHA256, is the percent-encoded storage key, a line feed, and `expires`.
 */
export function attachmentUrls(options: {
  baseUrl: string | undefined;
  secretKeys: string;
  clock: Clock;
}): AttachmentUrl {
  const { baseUrl, secretKeys, clock } = options;
  if (baseUrl === undefined) return () => '';
  const keyring = openKeyring(secretKeys, PURPOSE);
  return (storageKey) => {
    if (storageKey === null) return '';
    const path = storageKey.split('/').map(encodeURIComponent).join('/');
    const expires = Math.floor(Date.parse(clock.now()) / 1_000) + LIFETIME;
    const signature = keyring.sign(`${path}\n${expires}`).toString('base64url');
    return `${baseUrl.replace(/\/$/, '')}/${path}?expires=${expires}&signature=${signature}`;
  };
}
