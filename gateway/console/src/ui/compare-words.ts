/** Cells of the table that compares words: what it takes is a few milliseconds. */
const MAX_CELLS = 1_000_000;

const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? [];

/** A piece of a text, and whether the other text has it, too. */
export interface Piece {
  text: string;
  isSame: boolean;
}

/** For each pair of places: how many words the rests have in common, one after the other. */
function commonCounts(a: readonly string[], b: readonly string[]): Uint32Array {
  const width = b.length + 1;
  const counts = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const at = i * width + j;
      counts[at] =
        a[i] === b[j] ? (counts[at + width + 1] ?? 0) + 1 : Math.max(counts[at + width] ?? 0, counts[at + 1] ?? 0);
    }
  return counts;
}

/** The pieces of both texts. What differs in very long texts is one piece. */
export function compareWords(before: string, after: string): { before: Piece[]; after: Piece[] } {
  const [a, b] = [wordsOf(before), wordsOf(after)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end += 1;
  const pieces = { before: [] as Piece[], after: [] as Piece[] };
  const add = (side: Piece[], text: string, isSame: boolean) => {
    const last = side.at(-1);
    if (last?.isSame === isSame) last.text += text;
    else if (text !== '') side.push({ text, isSame });
  };
  const addSame = (words: readonly string[]) => {
    for (const side of [pieces.before, pieces.after]) add(side, words.join(''), true);
  };
  const [changed, others] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isBounded = (changed.length + 1) * (others.length + 1) <= MAX_CELLS;
  const counts = isBounded ? commonCounts(changed, others) : new Uint32Array();
  const width = others.length + 1;
  addSame(a.slice(0, start));
  let [i, j] = [0, 0];
  while (i < changed.length || j < others.length) {
    const [mine, other] = [changed[i], others[j]];
    if (isBounded && mine !== undefined && mine === other) {
      addSame([mine]);
      i += 1;
      j += 1;
    } else if (
      mine !== undefined &&
      (other === undefined || !isBounded || (counts[(i + 1) * width + j] ?? 0) >= (counts[i * width + j + 1] ?? 0))
    ) {
      add(pieces.before, mine, false);
      i += 1;
    } else {
      add(pieces.after, other ?? '', false);
      j += 1;
    }
  }
  addSame(a.slice(a.length - end));
  return pieces;
}
