import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** A token of one kind is none of another. That of an agent is an access token of OAuth. */
const PREFIXES = { key: 'tcs_', session: 'tcn_', login_link: 'tcl_', agent: 'tco_' } as const;

export type TokenKind = keyof typeof PREFIXES;

/** 43 characters of 62 are 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHOWN_LENGTH = 8;
const FORM = new RegExp(`^tc[snlo]_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** Generates a token (contract: Authentication). Only its digest is stored, so it cannot be shown again. */
export function generateToken(kind: TokenKind = 'key'): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  const text = PREFIXES[kind] + secret;
  return text + checksum(text);
}

/** Whether the text has the form and the checksum of a token: a mistyped token needs no look-up. */
export function isToken(text: string, kind: TokenKind = 'key'): boolean {
  return text.startsWith(PREFIXES[kind]) && FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** The SHA-256 under which a token is stored and looked up, in hexadecimal. */
export const digestOf = (token: string): string => hash('sha256', token);

/** The part that is stored in plain text, so that people can tell their tokens apart. */
export const shownPart = (token: string): string => token.slice(0, SHOWN_LENGTH);

/** CRC-32 in base 62, padded with zeros. */
function checksum(text: string): string {
  let quotient = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(quotient % ALPHABET.length) + digits;
    quotient = Math.floor(quotient / ALPHABET.length);
  }
  return digits;
}
