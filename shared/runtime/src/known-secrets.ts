import { urlsOfHosts } from './hosts.ts';
import { deriveLeafKey, parseKeyName, parseSecretKeys } from './keyring.ts';

/** The root key in docker-compose.yml of earlier releases. */
const PUBLISHED_KEYS = ['dGhpcyBrZXkgaXMgZm9yIGRldmVsb3BtZW50IG9ubHk='];
/** The passwords in docker-compose.yml of earlier releases and in infra/kubernetes/examples. */
const PUBLISHED_PASSWORDS = ['development-only', 'REPLACE'];
/** RabbitMQ's default user and password. By default it accepts them only from its own machine. */
const DEFAULT_BROKER_CREDENTIAL = 'guest';
const LOOPBACK = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * Returns an error message for a setting whose secret is public, because it is published with the sources or with
 * RabbitMQ; `undefined` for any other value, including a malformed one.
 */
export function findKnownSecretViolation(name: string, value: string): string | undefined {
  if (name === 'TOCSIN_SECRET_KEYS') return hasPublishedKey(value) ? PUBLISHED_SECRET : undefined;
  if (name.endsWith('_PASSWORD')) return PUBLISHED_PASSWORDS.includes(value) ? PUBLISHED_SECRET : undefined;
  if (!name.endsWith('_URL')) return undefined;
  return urlsOfHosts(value)
    .map((url) => URL.parse(url))
    .map((url) => (url === null ? undefined : findKnownCredential(url)))
    .find((violation) => violation !== undefined);
}

function findKnownCredential({ protocol, username, password, hostname }: URL): string | undefined {
  if (PUBLISHED_PASSWORDS.includes(password)) return PUBLISHED_SECRET;
  const isBroker = protocol === 'amqp:' || protocol === 'amqps:';
  // Without a user the client uses the broker's default.
  const isDefault =
    (username === '' || username === DEFAULT_BROKER_CREDENTIAL) &&
    (password === '' || password === DEFAULT_BROKER_CREDENTIAL);
  if (isBroker && isDefault && !LOOPBACK.test(hostname)) {
    return 'is the user that every RabbitMQ comes with: make one of your own (NODE_ENV is production)';
  }
  return undefined;
}

const PUBLISHED_SECRET = 'is a default that everybody can read: make one of your own (NODE_ENV is production)';

function hasPublishedKey(text: string): boolean {
  try {
    return [...parseSecretKeys(text)].some(([name, key]) => {
      const { purpose } = parseKeyName(name);
      return PUBLISHED_KEYS.map((encoded) => Buffer.from(encoded, 'base64')).some((publishedKey) =>
        key.equals(purpose === undefined ? publishedKey : deriveLeafKey(publishedKey, purpose)),
      );
    });
  } catch {
    // `openKeyring` reports malformed keys.
    return false;
  }
}
