/**
 * Folds a text for comparison without regard to case and form, by Unicode, in every script: texts that look the same and
 * are written in other code points (`é` as one or as two, `ﬁ`, full width, marks in another order) are the same. Twice,
 * because the lower case of some letters has another upper case (`ẞ`). The result of a folded text is itself.
 */
export const fold = (text: string) =>
  // The normal form comes first: a mark whose upper case is a letter (U+0345) can be put in order only before that.
  IS_ASCII.test(text) ? text.toLowerCase() : foldOnce(foldOnce(text.normalize('NFKC')));

const IS_ASCII = /^[\0-\x7f]*$/;

/**
 * Upper case comes before lower case, because variants of a letter share it (`ß` and `SS`, `ſ` and `S`); the final sigma
 * becomes a plain sigma.
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
