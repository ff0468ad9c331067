/** One text of a service's description. `id` is the same for the same text. */
export interface DescriptionVersion {
  readonly id: string;
}

/** A description version that counts, and how many rounds of reads in a row have not seen it. */
export interface CountedVersion<One extends DescriptionVersion> {
  readonly version: One;
  readonly absentRounds: number;
}

/**
 * Returns the versions of a service's description that count after a round of reads, the newest first. Behind one address
 * there may be processes of several releases, and each read sees one of them. So a version counts until many rounds in
 * a row have not seen it. A round that saw no valid version takes nothing away.
 * @param seen the valid versions that the round saw
 * @param rules.max how many count at the same time; others have to wait
 * @param rules.absentRounds after so many a version stops to count
 */
export function countAfterRound<One extends DescriptionVersion>(
  counted: readonly CountedVersion<One>[],
  seen: readonly One[],
  rules: { max: number; absentRounds: number },
): readonly CountedVersion<One>[] {
  if (seen.length === 0) return counted;
  const ids = new Set(seen.map(({ id }) => id));
  const kept = counted
    .map(({ version, absentRounds }) => ({ version, absentRounds: ids.has(version.id) ? 0 : absentRounds + 1 }))
    .filter(({ absentRounds }) => absentRounds < rules.absentRounds);
  const added = seen.filter(({ id }) => !counted.some(({ version }) => version.id === id));
  const fitting = added.slice(0, Math.max(0, rules.max - kept.length));
  return [...fitting.toReversed().map((version) => ({ version, absentRounds: 0 })), ...kept];
}
