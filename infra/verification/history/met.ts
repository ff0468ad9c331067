/** Counts what a run has met. A run states what it must have met, because without it, it proves less than it says. */
export interface Met {
  see(name: string): void;
  readonly counts: Readonly<Record<string, number>>;
  /** Those of the names that never occurred. */
  missing(names: readonly string[]): string[];
}

export function countMet(): Met {
  const counts: Record<string, number> = {};
  return {
    see: (name) => void (counts[name] = (counts[name] ?? 0) + 1),
    counts,
    missing: (names) => names.filter((name) => counts[name] === undefined),
  };
}
