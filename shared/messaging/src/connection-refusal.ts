/**
 * Says what of its URL a broker refuses, if the error of a connection means that.
 * @returns undefined for any other error: the broker may not be there yet
 */
export function connectionRefusal(error: unknown): string | undefined {
  const { message } = error as { message?: unknown };
  if (typeof message !== 'string') return undefined;
  if (message.includes('403 (ACCESS-REFUSED)')) return 'the user or the password';
  // The broker closes the connection instead of opening the virtual host.
  return message.startsWith('Expected ConnectionOpenOk') ? 'the virtual host, or the user there' : undefined;
}
