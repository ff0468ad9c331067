import { invalidRequest } from '@tocsin/http';
import { type Keyring, openKeyring, type Sealed } from '@tocsin/runtime';
import { type AllowedDestinations, DESTINATION_PROBLEMS, findDestinationProblem } from '@tocsin/safe-http';
import { KINDS_BY_NAME } from './clients/kinds/index.ts';
import type { Address, Kind, Tracker } from './domain/tracker.ts';

/** The keyring that seals addresses; each is bound to its tracker. */
export const trackerKeyring = (secretKeys: string): Keyring => openKeyring(secretKeys, 'tracker-address');

export const sealAddress = (keyring: Keyring, id: number, { url, credential, secret }: Address): Sealed =>
  keyring.seal(JSON.stringify({ url, credential, secret }), String(id));

/** Undefined if no configured key opens it. */
export function openAddress(keyring: Keyring, id: number, sealed: Sealed): Address | undefined {
  const text = keyring.tryOpen(sealed, String(id));
  return text === undefined ? undefined : (JSON.parse(text) as Address);
}

/** What is given of a tracker, as its kind reads it. */
export type Given = Pick<Tracker, 'kind' | 'project' | 'issueType'> & { url: string };

/**
 * Checks that a tracker has what its kind needs. Names are resolved, and their addresses checked, at each request.
 * @returns it with the defaults of its kind, and what is shown of its URL
 * @throws DomainError `invalid_request` that names the property
 */
export function checkGiven(given: Given, allowed: AllowedDestinations): Given & { origin: string } {
  const { project, issueType = '', url: defaultUrl } = KINDS_BY_NAME[given.kind];
  if (!project.pattern.test(given.project)) throw invalidRequest('project', `Must be ${project.is}`);
  if (given.issueType !== '' && issueType === '')
    throw invalidRequest('issue_type', `Is not allowed for the kind ${given.kind}`);
  const { url, origin } = readUrl(given.url === '' ? defaultUrl : given.url, given.kind, allowed);
  return { ...given, issueType: given.issueType === '' ? issueType : given.issueType, url, origin };
}

function readUrl(text: string, kind: Kind, allowed: AllowedDestinations): { url: string; origin: string } {
  const urlError = (message: string) => invalidRequest('url', message);
  if (text === '') throw urlError(`Is required for the kind ${kind}`);
  const url = /^https:\/\/[^\u0000-\u0020\u007f\\]+$/i.test(text) ? URL.parse(text) : null;
  if (url === null) throw urlError('Must be an absolute https URL');
  if (url.username !== '' || url.password !== '') throw urlError('Must not contain credentials');
  if (/[?#]/.test(text)) throw urlError('Must not contain a query or a fragment');
  const problem = findDestinationProblem(url, allowed);
  if (problem !== undefined) throw urlError(DESTINATION_PROBLEMS[problem]);
  return { url: url.href.replace(/\/$/, ''), origin: `https://${url.hostname}` };
}
