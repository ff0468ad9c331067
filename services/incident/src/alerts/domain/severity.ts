import { fold } from '@tocsin/schemas';
import type { Severity } from '../../configuration/domain/configuration.ts';

/** The usual words of monitors, by rank: the first ones are the most severe. */
const WORDS: readonly (readonly string[])[] = [
  [
    ...['critical', 'crit', 'fatal', 'emergency', 'emerg', 'alert', 'page', 'disaster', 'urgent', 'blocker'],
    ...['down', 'unreachable', 'p0', 'p1', 'sev0'],
  ],
  ['error', 'err', 'high', 'major', 'severe', 'p2'],
  ['warning', 'warn', 'medium', 'moderate', 'average', 'unknown', 'p3'],
  ['info', 'information', 'informational', 'notice', 'low', 'minor', 'debug', 'none', 'ok', 'p4', 'p5'],
];

/**
 * Returns the severity that a monitor means: that with this key or label, or, for a usual word, the one of the word's rank;
 * undefined if it means none.
 */
export function severityOf(text: string, severities: readonly Severity[]): Severity | undefined {
  const folded = fold(text);
  const named = severities.find(({ key, label }) => folded === fold(key) || folded === fold(label));
  if (named !== undefined) return named;
  const rank = WORDS.findIndex((words) => words.includes(folded));
  if (rank === -1) return undefined;
  const bySeverity = severities.toSorted((a, b) => a.order - b.order);
  return rank === WORDS.length - 1 ? bySeverity.at(-1) : (bySeverity[rank] ?? bySeverity.at(-1));
}

/** Whether a severity is higher than another one, or without that one, than the default one. */
export function isAbove(key: string, other: string | null, severities: readonly Severity[]): boolean {
  const orderOf = (wanted: string | null) =>
    severities.find((each) => (wanted === null ? each.isDefault : each.key === wanted))?.order ?? Infinity;
  return orderOf(key) < orderOf(other);
}

/** The highest severity that alerts name; undefined: they name none. */
export const highestOf = (
  alerts: readonly { severity: string }[],
  severities: readonly Severity[],
): Severity | undefined =>
  [...new Set(alerts.map(({ severity }) => severity))]
    .flatMap((word) => severityOf(word, severities) ?? [])
    .sort((a, b) => a.order - b.order)[0];
