/** A text of the documents with the address of this workspace instead of the documents' one. */
export const withOwnAddress = (text: string, { protocol, host }: Pick<URL, 'protocol' | 'host'>): string =>
  text.replaceAll(
    /(https?:\/\/([^\s/]+@)?)?acme\.(?:tocsin\.example\.com|localhost:8080)/g,
    (_, scheme?: string, user = '') => (scheme === undefined ? '' : `${protocol}//${String(user)}`) + host,
  );
