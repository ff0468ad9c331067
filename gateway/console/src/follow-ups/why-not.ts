const REASONS: ReadonlyMap<string, string> = new Map([
  ['denied', 'It does not accept the token, or has no such project.'],
  ['rate_limited', 'It has had too many requests.'],
  ['gone', 'It has no such ticket any more.'],
  ['no_transition', 'Its workflow has no way to this state that asks for nothing.'],
  ['archived', 'The incident is archived.'],
  ['restricted', 'It gets no restricted incidents.'],
  ['refused', 'The follow-up cannot change now.'],
  ['timeout', 'It did not answer in time.'],
  ['connection', 'Nothing accepts connections there.'],
  ['tls', 'Its certificate is not valid for this name.'],
  ['dns', 'Its name has no address.'],
  ['proxy', 'The proxy of the installation did not let the request through.'],
  ['blocked_address', 'Tocsin may not send to its address.'],
  ['undecryptable', 'The key that sealed its token is not there.'],
]);

/** Why a tracker has not done what was asked, as far as the API says it. */
export const whyNot = ({ reason, status }: { reason: string | null; status: number | null }): string =>
  REASONS.get(reason ?? '') ?? (status === null ? 'Something went wrong.' : `It answered ${status}.`);
