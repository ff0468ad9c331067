const REASONS: ReadonlyMap<unknown, string> = new Map([
  ['timeout', 'It did not answer in time.'],
  ['connection', 'Nothing accepts connections there.'],
  ['tls', 'Its certificate is not valid for this name.'],
  ['dns', 'Its name has no address.'],
  ['proxy', 'The proxy of the installation did not let the request through.'],
  ['body_too_large', 'Its response is too large.'],
  ['blocked_address', 'Tocsin may not send to its address.'],
  ['deferred', 'Its address gets no more requests in this minute.'],
  ['undecryptable', 'Tocsin cannot decrypt its address: the operator has changed the keys.'],
  ['internal', 'Tocsin could not send it: the operator sees why in the log.'],
]);

/** Why a receiver did not accept a request, as far as the API says it. */
export const causeOf = (status: unknown, reason: unknown): string =>
  typeof status === 'number' ? `It answered ${status} instead of 2xx.` : (REASONS.get(reason) ?? '');
