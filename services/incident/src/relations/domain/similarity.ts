/** An incident that may be similar to another one. */
export interface Candidate {
  id: number;
  titleFolded: string;
  /** Whether it has the same service; null: the other one has none. */
  isOfService: boolean | null;
}

export interface Scored {
  id: number;
  /** From 0 to 1. */
  score: number;
}

/** How many similar incidents are shown. */
export const MAX_SIMILAR = 5;
/** How many terms of a title count. */
const MAX_TERMS = 32;
/** Characters of a word that count, so that `payment` and `payments` are one term, as are `Daten` and its compounds. */
const TERM_LENGTH = 6;
/** Less in common says nothing: most titles share a word such as `is`. */
const MIN_SHARED = 0.15;
/** What the words in common count for if the services differ. */
const OF_OTHER_SERVICE = 0.7;

/** A longer word is several. */
const WORDS = /[\p{L}\p{M}\p{N}]{1,32}|\p{Extended_Pictographic}/gu;
/** Scripts that put no spaces between words. */
const WITHOUT_SPACES =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** The terms of a folded title: beginnings of words, pairs of characters where words have no spaces, and emoji. */
export const termsOf = (folded: string): ReadonlySet<string> => new Set(readTerms(folded).take(MAX_TERMS));

function* readTerms(folded: string) {
  for (const [word] of folded.matchAll(WORDS)) {
    if (!WITHOUT_SPACES.test(word)) {
      // A cut may split a pair of surrogates: terms are only compared.
      yield word.slice(0, TERM_LENGTH);
      continue;
    }
    const characters = Array.from(word);
    if (characters.length === 1) yield word;
    for (let index = 1; index < characters.length; index += 1) yield `${characters[index - 1]}${characters[index]}`;
  }
}

/**
 * Returns the candidates that are most similar to a title, the most similar first: those that share most of its terms, of
 * which one that few candidates have counts most. Of equally similar ones, the shortest title comes first, then the latest.
 */
export function mostSimilar(titleFolded: string, candidates: readonly Candidate[]): Scored[] {
  const terms = termsOf(titleFolded);
  const counts = new Map<string, number>();
  const sharing = candidates.flatMap(({ id, titleFolded: title, isOfService }) => {
    const others = termsOf(title);
    const shared = [...terms].filter((term) => others.has(term));
    for (const term of shared) counts.set(term, (counts.get(term) ?? 0) + 1);
    return shared.length === 0 ? [] : [{ id, isOfService, shared, size: others.size }];
  });
  const weights = new Map(
    [...terms].map((term) => [term, Math.log(1 + candidates.length / (1 + (counts.get(term) ?? 0)))]),
  );
  const sum = (each: Iterable<string>) =>
    Iterator.from(each).reduce((total, term) => total + (weights.get(term) ?? 0), 0);
  const whole = sum(terms);
  return sharing
    .map(({ isOfService, shared, ...candidate }) => ({ ...candidate, isOfService, part: sum(shared) / whole }))
    .filter(({ part }) => part >= MIN_SHARED)
    .map(({ id, size, isOfService, part }) => ({
      ...{ id, size },
      score: Math.round(100 * part * (isOfService === false ? OF_OTHER_SERVICE : 1)) / 100,
    }))
    .sort((a, b) => b.score - a.score || a.size - b.size || b.id - a.id)
    .slice(0, MAX_SIMILAR)
    .map(({ id, score }) => ({ id, score }));
}
