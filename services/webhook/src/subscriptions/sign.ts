import type { Knex } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { PreparedRequest } from '@tocsin/safe-http';
import { signedHeaders } from '../requests/domain/signature.ts';
import { secretStore } from './store/secret-store.ts';
import type { SecretCipher } from './secret-cipher.ts';

/** A request to a receiver before it is signed. */
export interface Message {
  workspaceId: number;
  subscriptionId: string;
  eventId: string;
  body: string;
}

const COMMON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tocsin-Webhooks/1' };

/**
 * Signs a message with every secret that is valid at `at`. Returns undefined when there is none: the subscription is
 * revoked.
 */
export async function sign(
  dependencies: { secretCipher: SecretCipher },
  db: Knex,
  message: Message,
  at: Instant,
): Promise<PreparedRequest | undefined> {
  const { workspaceId, subscriptionId: id } = message;
  const secrets = await secretStore(db, { workspaceId, id }).validAt(at);
  return secrets.length === 0 ? undefined : signWith(dependencies, secrets, message, at);
}

/** Signs a message with each of these secrets of its subscription. */
export function signWith(
  { secretCipher }: { secretCipher: SecretCipher },
  ciphertexts: readonly Sealed[],
  { subscriptionId, eventId, body }: Omit<Message, 'workspaceId'>,
  at: Instant,
): PreparedRequest {
  const secrets = ciphertexts.map((ciphertext) => secretCipher.decryptSecret(ciphertext, subscriptionId));
  return { headers: { ...COMMON_HEADERS, ...signedHeaders({ eventId, body, at, secrets }) }, body };
}
