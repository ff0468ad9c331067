/** Longer names are no mistyped ones, and would take long to compare. */
const MAX_LENGTH = 64;
/** One wrong letter in as many is a typing error. */
const LETTERS_PER_ERROR = 3;

/**
 * Finds the name that a client most likely meant: one that differs in a few letters, in case or separators, or that has
 * the given name among its words, as `field_type` has `type`.
 * @returns undefined if there is none, or more than one that is equally near
 */
export function nearName(given: string, names: readonly string[]): string | undefined {
  if (given === '' || given.length > MAX_LENGTH) return undefined;
  const near = names
    .map((name) => ({ name, distance: distanceOf(given, name) }))
    .filter(({ distance }) => distance !== Infinity)
    .sort((a, b) => a.distance - b.distance);
  const [first, second] = near;
  return first?.distance === second?.distance ? undefined : first?.name;
}

function distanceOf(given: string, name: string): number {
  const [a, b] = [plain(given), plain(name)];
  const edits = editsBetween(a, b);
  if (edits <= Math.floor(Math.max(a.length, b.length) / LETTERS_PER_ERROR)) return edits;
  // A shared word is nearer than nothing, and no nearer than a typing error.
  return name.split('_').includes(given) || given.split('_').includes(name) ? MAX_LENGTH : Infinity;
}

const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/** The number of letters to insert, delete or replace. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j += 1) {
      const [above = Infinity, left = Infinity, before = Infinity] = [row[j + 1], next[j], row[j]];
      next.push(Math.min(above + 1, left + 1, before + (letter === b[j] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}
