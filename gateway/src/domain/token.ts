import { hash, randomInt } from 'node:crypto';
import { crc32 } from 'node:zlib';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const PREFIX = 'tcs_';
/** 43 characters of 62 are 256 bits. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const SHOWN_LENGTH = 8;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);

/** A new API token (contract: Authentication). Nobody can show it again: only its digest is kept. */
export function generateToken(): string {
  const secret = Array.from({ length: SECRET_LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
  return PREFIX + secret + checksum(PREFIX + secret);
}

/** Whether it can be one of ours at all: a mistyped or foreign token never costs a look-up. */
export function isToken(text: string): boolean {
  return FORM.test(text) && text.endsWith(checksum(text.slice(0, -CHECKSUM_LENGTH)));
}

/** SHA-256, in hexadecimal: what is stored and looked up. */
export const digestOf = (token: string): string => hash('sha256', token);

/** What people tell their tokens apart by. */
export const shownPart = (token: string): string => token.slice(0, SHOWN_LENGTH);

/** CRC-32 in base 62, padded. */
function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  while (digits.length < CHECKSUM_LENGTH) {
    digits = ALPHABET.charAt(rest % ALPHABET.length) + digits;
    rest = Math.floor(rest / ALPHABET.length);
  }
  return digits;
}
