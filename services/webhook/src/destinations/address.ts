import { invalidRequest } from '@tocsin/http';
import type { AllowedDestinations } from '@tocsin/safe-http';
import type { Sealed } from '@tocsin/runtime';
import type { SecretCipher } from '../subscriptions/secret-cipher.ts';
import { readReceiverUrl } from '../subscriptions/domain/receiver-url.ts';
import { type Address, type Destination, KINDS } from './domain/destination.ts';
import { parseTemplate } from './domain/template.ts';
import { KINDS_BY_NAME } from './domain/kinds/index.ts';

/** What of a destination its kind says whether it may, or has to, have. */
export type Given = Pick<Destination, 'kind' | 'recipients' | 'template'> & Address;

/**
 * Checks that a destination has what its kind needs, and nothing that it does not have.
 * @returns what is shown of its address
 * @throws DomainError `invalid_request` that names the property
 */
export function checkGiven(given: Given, allowed: AllowedDestinations): Pick<Destination, 'origin' | 'host'> & Address {
  const { needs, recipient, url: defaultUrl = '', markup } = KINDS_BY_NAME[given.kind];
  const { credential, headers, recipients, template } = given;
  const url = given.url === '' ? defaultUrl : given.url;
  const has = {
    url: url !== '',
    credential: credential !== '',
    recipients: recipients.length > 0,
    headers: Object.keys(headers).length > 0,
    template: template !== null,
  };
  for (const [name, need] of Object.entries(needs) as [keyof typeof has, string][]) {
    if (need === 'required' && !has[name]) throw invalidRequest(name, `Is required for the kind ${given.kind}`);
    if (need === 'none' && has[name]) {
      const kinds = KINDS.filter((kind) => KINDS_BY_NAME[kind].needs[name] !== 'none');
      throw invalidRequest(name, `Is only allowed for the kinds ${kinds.join(', ')}`);
    }
  }
  if (recipient !== undefined && (recipients.length > 1 || !recipient.pattern.test(recipients[0] ?? '')))
    throw invalidRequest('recipients', `Must be one: ${recipient.what}`);
  if (template !== null && markup !== undefined) parseTemplate(template, markup);
  if (url === '') return { origin: '', host: '', url, credential, headers };
  const { href, origin, host } = readReceiverUrl(url, allowed);
  return { origin, host, url: href, credential, headers };
}

export const sealAddress = (cipher: SecretCipher, id: number, { url, credential, headers }: Address): Sealed =>
  cipher.encryptUrl(JSON.stringify({ url, credential, headers }), String(id));

/** @throws UndecryptableError if no configured key opens it */
export const openAddress = (cipher: SecretCipher, id: number, sealed: Sealed): Address =>
  JSON.parse(cipher.decryptUrl(sealed, String(id))) as Address;
