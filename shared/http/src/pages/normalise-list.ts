import { isBlank } from '@tocsin/schemas';

/** Trims the values and drops blank ones and those that differ from an earlier one only in case. Keeps the order. */
export function normaliseList(values: readonly string[]): string[] {
  const byKey = new Map<string, string>();
  for (const value of values.map((item) => item.trim())) {
    const key = value.toLowerCase();
    if (!isBlank(value) && !byKey.has(key)) byKey.set(key, value);
  }
  return [...byKey.values()];
}
