import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { ConfigError } from './config-error.ts';

/** An encrypted secret: the ID of its key, and `nonce || tag || encrypted text` as stored in the database. */
export interface Sealed {
  keyId: string;
  ciphertext: Buffer;
}

/** The keys of one purpose. What is encrypted or signed for one purpose cannot be opened or verified for another. */
export interface Keyring {
  /** The ID of the key that encrypts and signs now. */
  readonly currentKeyId: string;
  /** Encrypts with AES-256-GCM under the current key. `context` is authenticated: `open` needs the same one. */
  seal(plaintext: string, context: string): Sealed;
  /** Decrypts. @throws if the key is not configured, the context differs or the ciphertext was changed */
  open(sealed: Sealed, context: string): string;
  /** Decrypts; undefined where `open` throws. */
  tryOpen(sealed: Sealed, context: string): string | undefined;
  /** HMAC-SHA256 under the current key. */
  sign(message: string | Buffer): Buffer;
  /** Verifies in constant time under every configured key, so that keys can be rotated. */
  verify(message: string | Buffer, signature: Buffer): boolean;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

const LEAF_KEY_BYTES = 32;
const NAME = /^[A-Za-z0-9_-]{1,32}(?:\/[a-z0-9-]{1,40}){0,3}$/;

/** Parses `id` of a root key, from which a key for every purpose is derived, or `id/purpose` of a leaf key. */
export function parseKeyName(name: string): { id: string; purpose: string | undefined } {
  const slash = name.indexOf('/');
  return slash === -1 ? { id: name, purpose: undefined } : { id: name.slice(0, slash), purpose: name.slice(slash + 1) };
}

/**
 * Parses comma-separated root keys `id:base64` of at least 32 bytes and leaf keys `id/purpose:base64` of exactly 32
 * bytes. Of the keys for a purpose the first encrypts and signs; all decrypt and verify.
 * @returns the keys by name: the text before the colon
 */
export function parseSecretKeys(text: string): ReadonlyMap<string, Buffer> {
  const keys = new Map<string, Buffer>();
  for (const item of text.split(',')) {
    const [name = '', encoded = '', ...surplus] = item.trim().split(':');
    const { id, purpose } = parseKeyName(name);
    const key = Buffer.from(encoded, 'base64');
    const hasValidLength = purpose === undefined ? key.length >= 32 : key.length === LEAF_KEY_BYTES;
    if (!NAME.test(name) || !hasValidLength || surplus.length > 0) {
      throw new ConfigError(
        'TOCSIN_SECRET_KEYS: must be id:base64 or id/purpose:base64 pairs, comma-separated, of at least 32 bytes each',
      );
    }
    // A root key must not have the ID of a leaf key: it already yields a key for every purpose.
    const isDuplicate =
      purpose === undefined ? [...keys.keys()].some((other) => parseKeyName(other).id === id) : keys.has(id);
    if (isDuplicate || keys.has(name))
      throw new ConfigError(`TOCSIN_SECRET_KEYS: the key ID ${name} must not occur twice`);
    keys.set(name, key);
  }
  return keys;
}

/** Generates one root key, in the format of `parseSecretKeys`. */
export function generateSecretKeys(): string {
  return `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`;
}

/** The keys of one purpose, in order: its leaf keys, and those derived from root keys. */
function keysFor(secretKeys: string, purpose: string): { id: string; key: Buffer }[] {
  const keys = [...parseSecretKeys(secretKeys)].flatMap(([name, key]) => {
    const { id, purpose: keyPurpose } = parseKeyName(name);
    if (keyPurpose === undefined) return [{ id, key: deriveLeafKey(key, purpose) }];
    return keyPurpose === purpose ? [{ id, key }] : [];
  });
  if (keys.length === 0) throw new ConfigError(`TOCSIN_SECRET_KEYS: holds no key for ${purpose}`);
  return keys;
}

/** Derives a root key's key for a purpose. Must never change: existing ciphertexts and signatures depend on it. */
export const deriveLeafKey = (root: Buffer, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', root, 'tocsin', purpose, LEAF_KEY_BYTES));

/**
 * Derives the leaf keys of some purposes, in the format of `parseSecretKeys`, for a process that needs no others. The
 * root keys cannot be computed from them.
 */
export const deriveSecretKeys = (secretKeys: string, purposes: readonly string[]): string =>
  purposes
    .flatMap((purpose) =>
      keysFor(secretKeys, purpose).map(({ id, key }) => `${id}/${purpose}:${key.toString('base64')}`),
    )
    .join(',');

/** @throws ConfigError if the keys are malformed or none of them is for this purpose */
export function openKeyring(secretKeys: string, purpose: string): Keyring {
  // Key objects, created once: Node would copy and check a buffer in every call.
  const keys = keysFor(secretKeys, purpose).map(({ id, key }) => ({ id, key: createSecretKey(key) }));
  const { id: currentKeyId, key: current } = keys[0] as (typeof keys)[number];
  const mac = (key: KeyObject, message: string | Buffer) => createHmac('sha256', key).update(message).digest();

  const open: Keyring['open'] = ({ keyId, ciphertext }, context) => {
    const key = keys.find(({ id }) => id === keyId)?.key;
    if (key === undefined) throw new Error(`secret key ${keyId} is not configured`);
    const decipher = createDecipheriv('aes-256-gcm', key, ciphertext.subarray(0, NONCE_BYTES))
      .setAAD(Buffer.from(context))
      .setAuthTag(ciphertext.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return decipher.update(ciphertext.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  };

  return {
    currentKeyId,
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return { keyId: currentKeyId, ciphertext: Buffer.concat([nonce, cipher.getAuthTag(), text]) };
    },
    open,
    tryOpen: (sealed, context) => {
      try {
        return open(sealed, context);
      } catch {
        return undefined;
      }
    },
    sign: (message) => mac(current, message),
    verify: (message, signature) =>
      keys.some(({ key }) => {
        const expected = mac(key, message);
        return expected.length === signature.length && timingSafeEqual(expected, signature);
      }),
  };
}
