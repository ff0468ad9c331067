import type { Destination } from './destination.ts';

/** Characters of an answer that are kept. */
const MAX_CHARACTERS = 1_024;
/** No character has more bytes in UTF-8. */
export const ANSWER_BYTES = 4 * MAX_CHARACTERS;

/** What stands in the place of a secret. */
const HIDDEN = '***';
/** A shorter text would hide words that have nothing to do with it. */
const SHORTEST_SECRET = 6;
/** Of a part of a path without a digit. */
const SHORTEST_TOKEN = 16;

/** Of any subscription; the receiver knows its own. */
const SIGNING_SECRET = /whsec_\w*/g;

/** All control characters but tabs and line ends. PostgreSQL does not store NUL, and terminals obey others. */
const CONTROL = /[^\P{Cc}\t\n\r]/gu;

/**
 * The beginning of what a receiver said, as text; null if it said nothing. What is no text is replaced, and so is what only
 * the request knew: pages of errors often repeat the path of the URL, and echo services the headers.
 * @param body the first `ANSWER_BYTES`
 */
export function answerText(body: Buffer, destination: Destination): string | null {
  const text = hide(new TextDecoder().decode(body), secretsOf(destination)).replaceAll(CONTROL, '\uFFFD');
  return [...text].slice(0, MAX_CHARACTERS).join('') || null;
}

/** What the URL and the headers have besides the origin, also in parts, the longest first. */
function secretsOf({ url, headers }: Destination): string[] {
  const { pathname, search } = new URL(url);
  const values = Object.values(headers);
  const parts = [
    ...[
      `${pathname}${search}`,
      pathname,
      ...pathname.split('/').filter(isToken),
      ...search.split(/[?&]/).flatMap(valueOf),
    ],
    // The credential of `Bearer …`, and the name and the password of `Basic …`.
    ...[...values, ...values.flatMap((value) => value.split(/\s+/).slice(1))],
    ...values.flatMap((value) => (/^basic /i.test(value) ? Buffer.from(value.slice(6), 'base64').toString() : [])),
  ];
  const forms = parts.flatMap((part) => [part, decoded(part), inHtml(part), inHtml(decoded(part))]);
  return [...new Set(forms)]
    .filter((form) => form.length >= SHORTEST_SECRET)
    .toSorted((one, other) => other.length - one.length);
}

/** Parts of a path that are words are in many texts. */
const isToken = (part: string) => /\d/.test(part) || part.length >= SHORTEST_TOKEN;

const valueOf = (parameter: string) => parameter.split('=').slice(1).join('=');

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

const inHtml = (part: string) =>
  part.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function hide(text: string, secrets: readonly string[]): string {
  const shown = secrets
    .reduce((hidden, secret) => hidden.replaceAll(secret, HIDDEN), text)
    .replaceAll(SIGNING_SECRET, HIDDEN);
  // The last one may have been cut off.
  const cut = Math.max(0, ...secrets.map((secret) => overlap(shown, secret)));
  return cut === 0 ? shown : `${shown.slice(0, -cut)}${HIDDEN}`;
}

/** How many characters at the end of the text are the beginning of a secret; 0 if they are too few to tell. */
function overlap(text: string, secret: string): number {
  for (let length = Math.min(secret.length - 1, text.length); length >= SHORTEST_SECRET; length -= 1)
    if (text.endsWith(secret.slice(0, length))) return length;
  return 0;
}
