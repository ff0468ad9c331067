/**
 * Folds a text for comparison without regard to case and form, by Unicode, in every script: texts that look the same and
 * are written in other code points (`é` as one or as two, `ﬁ`, full width) are the same. Twice, because the normal form of
 * some symbols is a capital letter. The result of a folded text is itself.
 */
export const fold = (text: string) => (IS_ASCII.test(text) ? text.toLowerCase() : foldOnce(foldOnce(text)));

const IS_ASCII = /^[\0-\x7f]*$/;

/**
 * Upper case comes first, because variants of a letter share it (`ß` and `SS`, `ſ` and `S`); the final sigma becomes a
 * plain sigma.
 */
const foldOnce = (text: string) => text.toUpperCase().toLowerCase().replaceAll('ς', 'σ').normalize('NFKC');

/** In UTF-16 code units. NFKC can turn one character into eighteen, and index entries and cursors are limited in size. */
const MAX_KEY_LENGTH = 512;

/** The part of a text that is indexed, and that cursors hold. */
export const cutKey = (text: string) =>
  // The cut can split a surrogate pair, and Postgres does not store a single surrogate.
  text.slice(0, MAX_KEY_LENGTH).replace(/[\uD800-\uDBFF]$/, '');

/** A folded text by which rows are sorted or found. */
export const foldedKey = (text: string) => cutKey(fold(text));
