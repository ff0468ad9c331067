/** How many different grams a field has. Grams share numbers by hashing. A power of two: see `gramAt`. */
const BUCKETS = 65_536;

/** The number of characters in the longest grams. */
const MAX_LENGTH = 3;

/** How many characters of a searched text are turned into grams. The search compares the whole text afterwards. */
const MAX_SEARCHED = 64;

/**
 * The most grams that are stored with a text, because each is an entry of the index. English has so many in some 5,000
 * characters. A text with more of them has one number instead that every search finds.
 */
const MAX_GRAMS = 2_048;

/** Longer texts, which no value has any more, are not turned into grams, because that takes time. */
const MAX_TEXT = 65_536;

/**
 * The grams of a folded text: its runs of one, two and three characters, each as a number that includes the field's ID, so
 * that a search finds texts of this field only. For a text with too many, only the number of `manyGrams`.
 */
export function textGrams(fieldId: number, folded: string): number[] {
  if (folded.length > MAX_TEXT) return [manyGrams(fieldId)];
  const points = codePoints(folded);
  const lengths = Array.from({ length: MAX_LENGTH }, (_, index) => index + 1);
  const grams = distinctGrams(points, lengths);
  return grams.length > MAX_GRAMS ? [manyGrams(fieldId)] : inField(fieldId, grams);
}

/** The grams that a text must have to contain the searched text: those of one length. None for an empty text. */
export function searchedGrams(fieldId: number, folded: string): number[] {
  const points = codePoints(folded.slice(0, 2 * MAX_SEARCHED)).subarray(0, MAX_SEARCHED);
  return points.length === 0 ? [] : inField(fieldId, distinctGrams(points, [Math.min(points.length, MAX_LENGTH)]));
}

/** What the texts of a field have instead of too many grams. No gram is negative. */
export const manyGrams = (fieldId: number) => -fieldId;

/** Postgres compares texts by code points, too. */
function codePoints(text: string): Uint32Array {
  const points = new Uint32Array(text.length);
  let length = 0;
  for (let index = 0; index < text.length; index += 1) {
    const point = text.codePointAt(index) ?? 0;
    if (point > 0xffff) index += 1;
    points[length] = point;
    length += 1;
  }
  return points.subarray(0, length);
}

/** The distinct grams of these lengths; of more than `MAX_GRAMS`, one more than that. */
function distinctGrams(points: Uint32Array, lengths: readonly number[]): number[] {
  const isKnown = new Uint8Array(BUCKETS);
  const grams: number[] = [];
  for (const length of lengths) {
    for (let start = 0; start + length <= points.length && grams.length <= MAX_GRAMS; start += 1) {
      const gram = gramAt(points, start, length);
      if (isKnown[gram] === 1) continue;
      isKnown[gram] = 1;
      grams.push(gram);
    }
  }
  return grams;
}

/** Computes modulo 2^32, which has the same remainder by `BUCKETS` and is faster than exact numbers. */
function gramAt(points: Uint32Array, start: number, length: number): number {
  let gram = length;
  for (let index = start; index < start + length; index += 1) gram = Math.imul(gram, 1_021) + (points[index] ?? 0);
  return (gram >>> 0) % BUCKETS;
}

const inField = (fieldId: number, grams: readonly number[]) => grams.map((gram) => fieldId * BUCKETS + gram);
