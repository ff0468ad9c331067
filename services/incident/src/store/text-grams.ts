/** How many different grams a field's texts have at most: others fall together, so that even the longest text has few. */
const BUCKETS = 65_536;

/** A text that contains another has all of its grams of one length, up to this. */
const LONGEST = 3;

/** As much of a searched text as is looked for. */
const SEARCHED = 64;

/**
 * The grams of a folded text: what stands in one, two or three of its characters, each as a number that begins with the
 * field, so that a search stays within it.
 */
export function textGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded);
  const grams = new Set<number>();
  for (let length = 1; length <= LONGEST; length += 1) addGrams(grams, points, length);
  return inField(fieldId, grams);
}

/** Grams that every text has which contains another; of an empty one none. */
export function searchedGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded).slice(0, SEARCHED);
  const grams = new Set<number>();
  if (points.length > 0) addGrams(grams, points, Math.min(points.length, LONGEST));
  return inField(fieldId, grams);
}

/** By code points, as Postgres compares texts. */
const codePoints = (text: string) => Array.from(text, (character) => character.codePointAt(0) ?? 0);

function addGrams(grams: Set<number>, points: readonly number[], length: number): void {
  for (let start = 0; start + length <= points.length; start += 1) {
    let gram = length;
    for (let index = start; index < start + length; index += 1) gram = gram * 1_021 + (points[index] ?? 0);
    grams.add(gram % BUCKETS);
  }
}

const inField = (fieldId: number, grams: Iterable<number>) => Array.from(grams, (gram) => fieldId * BUCKETS + gram);
