/** Trimmed, blanks dropped, of values that differ only in case the first kept, in the order given. */
export function normaliseList(values: readonly string[]): string[] {
  const kept = new Map<string, string>();
  for (const value of values.map((item) => item.trim())) {
    const key = value.toLowerCase();
    if (value !== '' && !kept.has(key)) kept.set(key, value);
  }
  return [...kept.values()];
}
