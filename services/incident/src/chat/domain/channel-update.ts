import type { Configuration } from '../../configuration/domain/configuration.ts';
import type { Change } from '../../incidents/domain/changes.ts';
import { humanId, type Incident } from '../../incidents/domain/incident.ts';

const MAX_TITLE = 150;

/**
 * Returns the message about changes of an incident, as text without markup; undefined if none of them is to be posted:
 * `INC-1 Checkout is down`, `Status: Open → Active`, `Severity: SEV3 → SEV1`.
 */
export function channelUpdate(
  { number, title }: Pick<Incident, 'number' | 'title'>,
  changes: readonly Change[],
  { statuses, severities }: Configuration,
): string | undefined {
  const labels = { status: labelsOf(statuses), severity: labelsOf(severities) };
  const lines = changes.flatMap(({ field, from, to }) => {
    if (field !== 'status' && field !== 'severity') return [];
    const [before, after] = [from, to].map((key) => oneLine(labels[field].get(key) ?? String(key)));
    return [`${field === 'status' ? 'Status' : 'Severity'}: ${before} → ${after}`];
  });
  if (lines.length === 0) return undefined;
  const heading = [...oneLine(title)].slice(0, MAX_TITLE).join('');
  return [`${humanId(number)} ${heading}`, ...lines].join('\n');
}

const labelsOf = (entries: readonly { key: string; label: string }[]) =>
  new Map<unknown, string>(entries.map(({ key, label }) => [key, label]));
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();
