import type { Instant, Knex } from '@tocsin/runtime';
import type { Prepared } from '@tocsin/safe-http';
import { signedHeaders } from '../domain/signature.ts';
import { secretStore } from '../store/secret-store.ts';
import type { Tools } from './context.ts';

/** A message to a receiver. */
export interface Message {
  subscriptionId: string;
  eventId: string;
  body: string;
}

const COMMON_HEADERS = { 'content-type': 'application/json', 'user-agent': 'Tocsin-Webhooks/1' };

/** Signs a message with every secret that is valid at `at`; undefined when none is, which means that it is revoked. */
export async function sign(
  { vault }: Pick<Tools, 'vault'>,
  db: Knex,
  { subscriptionId, eventId, body }: Message,
  at: Instant,
): Promise<Prepared | undefined> {
  const sealed = await secretStore(db, subscriptionId).signing(at);
  if (sealed.length === 0) return undefined;
  const secrets = sealed.map((secret) => vault.openSecret(secret, subscriptionId));
  return { headers: { ...COMMON_HEADERS, ...signedHeaders({ eventId, body, at, secrets }) }, body };
}
