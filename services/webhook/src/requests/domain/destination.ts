/** Headers that requests to a receiver have besides Tocsin's own, by their names as they were given. */
export type ReceiverHeaders = Readonly<Record<string, string>>;

export const MAX_HEADERS = 10;

/** `Authorization`, and what begins with `X-`, except what proxies set and what changes the method. */
export const HEADER_NAME = /^(?:authorization|x-(?!forwarded-|real-ip$|http-method|method-override$)[a-z0-9-]{1,62})$/i;

/** What the API description says of such a name (ADR 82). */
export const HEADER_NAME_PATTERN = '^(?:[Aa][Uu][Tt][Hh][Oo][Rr][Ii][Zz][Aa][Tt][Ii][Oo][Nn]|[Xx]-[A-Za-z0-9-]{1,62})$';

/** Visible ASCII characters, with spaces and tabs between them. */
export const HEADER_VALUE = /^[!-~](?:[ -~\t]*[!-~])?$/;
export const MAX_HEADER_VALUE = 1024;

/** Where requests go, and what they carry. It is encrypted as a whole. */
export interface Destination {
  url: string;
  headers: ReceiverHeaders;
}

/** The text that is encrypted; a URL alone if there are no headers. */
export const destinationText = ({ url, headers }: Destination): string =>
  Object.keys(headers).length === 0 ? url : JSON.stringify({ url, headers });

export const readDestination = (text: string): Destination =>
  text.startsWith('{') ? (JSON.parse(text) as Destination) : { url: text, headers: {} };
