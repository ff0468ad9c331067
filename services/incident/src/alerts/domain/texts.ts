import type { Instant } from '@tocsin/runtime';
import { type Alert, KEPT } from './alert.ts';
import { shorten } from './body-reader.ts';
import type { EvidenceLink, TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';

/** Names that an event of many alerts shows. */
const NAMES = 20;

/** A timeline event about alerts, before it is part of an incident. */
export interface AlertNote extends Pick<TimelineEventProperties, 'startedAt' | 'title' | 'body'> {
  sourceRef: string;
  evidenceLinks: readonly EvidenceLink[];
}

const VERBS = { started: 'Firing', ended: 'Resolved', acknowledged: 'Acknowledged' } as const;

/**
 * Returns the timeline event of alerts that started, ended or were acknowledged at once. Of one it says all, of many the
 * number and the first names.
 */
export function noteOf(
  outcome: keyof typeof VERBS,
  alerts: readonly Alert[],
  { keyName, count, now }: { keyName: string; count: number; now: Instant },
): AlertNote {
  const times = alerts.flatMap(({ startedAt, endedAt }) => (outcome === 'ended' ? endedAt : startedAt) ?? []).sort();
  const startedAt = (outcome === 'ended' ? times.at(-1) : outcome === 'started' ? times[0] : undefined) ?? now;
  const [first] = alerts;
  const verb = VERBS[outcome];
  const from = `Reported with the API key ${keyName}.`;
  if (count === 1 && first !== undefined) {
    return {
      startedAt,
      title: shorten(`${verb}: ${first.name}`, KEPT.name),
      body: paragraphs([
        first.summary === first.name ? '' : first.summary,
        first.description,
        outcome === 'ended' && first.startedAt !== null ? `It fired from ${first.startedAt} to ${startedAt}.` : '',
        first.labels.map(([name, value]) => `- ${name}: ${value}`).join('\n'),
        from,
      ]),
      sourceRef: shorten(first.id, KEPT.identity),
      evidenceLinks: first.links,
    };
  }
  const names = alerts.slice(0, NAMES).map(({ name, labels }) => {
    const instance = labels.find(([label]) => label === 'instance')?.[1];
    return `- ${name}${instance === undefined ? '' : ` (${instance})`}`;
  });
  const rest = count - names.length;
  return {
    startedAt,
    title: shorten(`${verb}: ${count} alerts${first === undefined ? '' : `, ${first.name} among them`}`, KEPT.name),
    body: paragraphs([[...names, ...(rest > 0 ? [`- and ${rest} more`] : [])].join('\n'), from]),
    sourceRef: shorten(first?.id ?? '', KEPT.identity),
    evidenceLinks: alerts.flatMap(({ links }) => links).slice(0, KEPT.links),
  };
}

const paragraphs = (texts: readonly string[]) => texts.filter((text) => text !== '').join('\n\n');

/** The title of an incident that stands for many groups. */
export const stormTitle = (groups: number, keyName: string) =>
  shorten(`${groups} alert groups from ${keyName}`, KEPT.name);
