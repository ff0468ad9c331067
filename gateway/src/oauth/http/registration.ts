import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { isRedirectUri } from '../domain/agents.ts';
import type { OAuthClient } from '../store/oauth-store.ts';

const MAX_NAME_LENGTH = 100;

/** What counts of a registration (RFC 7591). Other metadata is ignored: nothing of a client is fetched or shown. */
const registration = z.object({
  client_name: z.string().max(MAX_NAME_LENGTH).optional(),
  redirect_uris: z
    .array(z.string().max(512).refine(isRedirectUri, 'must be an https URL, or an http URL of this machine'))
    .min(1)
    .max(10),
});

/** What is wrong with a registration, as RFC 7591 wants it. */
export interface RegistrationError {
  error: 'invalid_client_metadata' | 'invalid_redirect_uri';
  error_description: string;
}

/** Reads a registration. The name is text of a stranger: characters that show nothing, or turn it around, are removed. */
export function readRegistration(body: Buffer): OAuthClient | RegistrationError {
  const { success, data, error } = registration.safeParse(parsed(body));
  if (!success) {
    const [{ path, message } = { path: [], message: '' }] = error.issues;
    const isUri = path[0] === 'redirect_uris';
    return {
      error: isUri ? 'invalid_redirect_uri' : 'invalid_client_metadata',
      error_description: `${path.join('.') || 'the body'}: ${message}`,
    };
  }
  const name = (data.client_name ?? '').replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim();
  return { id: randomBytes(16).toString('hex'), name: name || 'An agent', redirectUris: data.redirect_uris };
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
