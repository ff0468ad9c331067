/** In UTF-16 code units. NFKC can turn one character into eighteen, and index entries and cursors are limited in size. */
const MAX_LENGTH = 512;

/**
 * Returns the key that lists sort a name by (contract: Catalog). It is stored and compared by bytes, so that the order does
 * not depend on the locale of the database.
 */
export function sortKeyOf(name: string): string {
  const normalized = name.normalize('NFKC').toLowerCase();
  // The cut can split a surrogate pair, and Postgres does not store a single surrogate.
  return normalized.slice(0, MAX_LENGTH).replace(/[\uD800-\uDBFF]$/, '');
}
