import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { ConfigError } from './config.ts';

/** A secret at rest: which key sealed it, and `nonce || tag || ciphertext`. */
export interface Sealed {
  keyId: string;
  box: Buffer;
}

/** One purpose's view of the master keys: what is signed or sealed for one purpose is worthless for another. */
export interface Keyring {
  /** The master key's ID that seals and signs now. */
  readonly currentKeyId: string;
  /** AES-256-GCM under the current key; `context` is authenticated and must be given again to open. */
  seal(plaintext: string, context: string): Sealed;
  /** @throws when the key is gone, the context differs or the box was changed */
  open(sealed: Sealed, context: string): string;
  /** HMAC-SHA256 under the current key. */
  sign(message: string | Buffer): Buffer;
  /** Constant-time; true when any configured key made the signature, so that keys can be rotated. */
  verify(message: string | Buffer, signature: Buffer): boolean;
}

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Reads `id:base64[,id:base64…]`, each key at least 32 bytes; the first seals and signs, all open and verify. */
export function parseSecretKeys(text: string): ReadonlyMap<string, Buffer> {
  const keys = new Map<string, Buffer>();
  for (const item of text.split(',')) {
    const [id, encoded] = item.trim().split(':');
    const key = Buffer.from(encoded ?? '', 'base64');
    if (id === undefined || !/^[A-Za-z0-9_-]{1,32}$/.test(id) || key.length < 32) {
      throw new ConfigError('TOCSIN_SECRET_KEYS: must be id:base64 pairs, comma-separated, of at least 32 bytes each');
    }
    if (keys.has(id)) throw new ConfigError(`TOCSIN_SECRET_KEYS: the key ID ${id} stands there twice`);
    keys.set(id, key);
  }
  return keys;
}

/** The form that `parseSecretKeys` reads, with one fresh key. */
export function generateSecretKeys(): string {
  return `k${Date.now().toString(36)}:${randomBytes(32).toString('base64')}`;
}

export function openKeyring(secretKeys: string, purpose: string): Keyring {
  const keys = new Map(
    [...parseSecretKeys(secretKeys)].map(([id, master]) => [
      id,
      Buffer.from(hkdfSync('sha256', master, 'tocsin', purpose, 32)),
    ]),
  );
  const [first] = keys;
  if (first === undefined) throw new ConfigError('TOCSIN_SECRET_KEYS: holds no key');
  const [currentKeyId, current] = first;
  const mac = (key: Buffer, message: string | Buffer) => createHmac('sha256', key).update(message).digest();

  return {
    currentKeyId,
    seal(plaintext, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', current, nonce).setAAD(Buffer.from(context));
      const text = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
      return { keyId: currentKeyId, box: Buffer.concat([nonce, cipher.getAuthTag(), text]) };
    },
    open({ keyId, box }, context) {
      const key = keys.get(keyId);
      if (key === undefined) throw new Error(`secret key ${keyId} is not configured`);
      const decipher = createDecipheriv('aes-256-gcm', key, box.subarray(0, NONCE_BYTES))
        .setAAD(Buffer.from(context))
        .setAuthTag(box.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      return decipher.update(box.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
    sign: (message) => mac(current, message),
    verify: (message, signature) =>
      [...keys.values()].some((key) => {
        const expected = mac(key, message);
        return expected.length === signature.length && timingSafeEqual(expected, signature);
      }),
  };
}
