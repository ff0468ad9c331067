import { type Clock, openKeyring } from '@tocsin/runtime';

/** Validity of an attachment's URL (contract: Timeline). */
const LIFETIME_SECONDS = 15 * 60;

const KEY_PURPOSE = 'attachment-url';

/** Returns the download URL of a file; an empty text if the file is not available. */
export type AttachmentUrl = (storageKey: string | null) => string;

/**
 * Signs URLs of the form `<base URL>/<storage key>?expires=<Unix seconds>&signature=<base64url>`. The signature is the
 * HMAC-SHA256 of the percent-encoded storage key, a line feed and `expires`.
 */
export function attachmentUrls(options: {
  baseUrl: string | undefined;
  secretKeys: string;
  clock: Clock;
}): AttachmentUrl {
  const { baseUrl, secretKeys, clock } = options;
  if (baseUrl === undefined) return () => '';
  const keyring = openKeyring(secretKeys, KEY_PURPOSE);
  return (storageKey) => {
    if (storageKey === null) return '';
    const path = storageKey.split('/').map(encodeURIComponent).join('/');
    const expires = Math.floor(Date.parse(clock.now()) / 1_000) + LIFETIME_SECONDS;
    const signature = keyring.sign(`${path}\n${expires}`).toString('base64url');
    return `${baseUrl.replace(/\/$/, '')}/${path}?expires=${expires}&signature=${signature}`;
  };
}
