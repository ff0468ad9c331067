/** How many different grams a field has. Grams share numbers by hashing, so that even the longest text has no more. */
const BUCKETS = 65_536;

/** The number of characters in the longest grams. */
const MAX_LENGTH = 3;

/** How many characters of a searched text are turned into grams. The search compares the whole text afterwards. */
const MAX_SEARCHED = 64;

/**
 * The grams of a folded text: its runs of one, two and three characters, each as a number that includes the field's ID, so
 * that a search finds texts of this field only.
 */
export function textGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded);
  const grams = new Set<number>();
  for (let length = 1; length <= MAX_LENGTH; length += 1) addGrams(grams, points, length);
  return inField(fieldId, grams);
}

/** The grams that a text must have to contain the searched text: those of one length. None for an empty text. */
export function searchedGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded).slice(0, MAX_SEARCHED);
  const grams = new Set<number>();
  if (points.length > 0) addGrams(grams, points, Math.min(points.length, MAX_LENGTH));
  return inField(fieldId, grams);
}

/** Postgres compares texts by code points, too. */
const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);

function addGrams(grams: Set<number>, points: readonly number[], length: number): void {
  for (let start = 0; start + length <= points.length; start += 1) {
    let gram = length;
    for (let index = start; index < start + length; index += 1) gram = gram * 1_021 + (points[index] ?? 0);
    grams.add(gram % BUCKETS);
  }
}

const inField = (fieldId: number, grams: Iterable<number>) => Array.from(grams, (gram) => fieldId * BUCKETS + gram);
