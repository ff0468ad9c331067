/** In UTF-16 units. NFKC can make eighteen characters of one, and both an index entry and a cursor have an end. */
const LONGEST = 512;

/**
 * What a list sorts a name by (contract: Catalog). Made here and compared by bytes, so that every database, whatever its
 * locale, agrees on the order.
 */
export function sortName(name: string): string {
  const normal = name.normalize('NFKC').toLowerCase();
  // The cut may halve a surrogate pair; half a character is none.
  return normal.slice(0, LONGEST).replace(/[\uD800-\uDBFF]$/, '');
}
