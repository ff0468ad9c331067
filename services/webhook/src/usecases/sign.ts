import type { Instant, Knex } from '@tocsin/runtime';
import type { PreparedRequest } from '@tocsin/safe-http';
import { signedHeaders } from '../domain/signature.ts';
import { secretStore } from '../store/secret-store.ts';
import type { Dependencies } from './context.ts';

/** A request to a receiver before it is signed. */
export interface Message {
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
  { secretCipher }: Pick<Dependencies, 'secretCipher'>,
  db: Knex,
  { subscriptionId, eventId, body }: Message,
  at: Instant,
): Promise<PreparedRequest | undefined> {
  const ciphertexts = await secretStore(db, subscriptionId).validAt(at);
  if (ciphertexts.length === 0) return undefined;
  const secrets = ciphertexts.map((ciphertext) => secretCipher.decryptSecret(ciphertext, subscriptionId));
  return { headers: { ...COMMON_HEADERS, ...signedHeaders({ eventId, body, at, secrets }) }, body };
}
