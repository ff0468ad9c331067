/** One text of a service's description. `id` is the same for the same text. */
export interface Edition {
  readonly id: string;
}

/** An edition that counts, and how many rounds of reads in a row have not seen it. */
export interface CountedEdition<One extends Edition> {
  readonly edition: One;
  readonly absentRounds: number;
}

/**
 * Returns the editions of a service's description that count after a round of reads, the newest first. Behind one address
 * there may be processes of several releases, and each read sees one of them. So an edition counts until many rounds in
 * a row have not seen it. A round that saw no valid edition takes nothing away.
 * @param seen the valid editions that the round saw
 * @param rules.max how many count at the same time; others have to wait
 * @param rules.absentRounds after so many an edition stops to count
 */
export function countAfterRound<One extends Edition>(
  counted: readonly CountedEdition<One>[],
  seen: readonly One[],
  rules: { max: number; absentRounds: number },
): readonly CountedEdition<One>[] {
  if (seen.length === 0) return counted;
  const ids = new Set(seen.map(({ id }) => id));
  const kept = counted
    .map(({ edition, absentRounds }) => ({ edition, absentRounds: ids.has(edition.id) ? 0 : absentRounds + 1 }))
    .filter(({ absentRounds }) => absentRounds < rules.absentRounds);
  const added = seen.filter(({ id }) => !counted.some(({ edition }) => edition.id === id));
  const fitting = added.slice(0, Math.max(0, rules.max - kept.length));
  return [...fitting.toReversed().map((edition) => ({ edition, absentRounds: 0 })), ...kept];
}
