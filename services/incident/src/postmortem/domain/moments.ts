import type { Instant } from '@tocsin/runtime';
import { durationAnchor, type Incident } from '../../incidents/domain/incident.ts';

/** The moments of an incident that a post-mortem has, by the property that has them. */
const MOMENTS = {
  impact_started_at: { label: 'Impact started', of: ({ impactStartedAt }) => impactStartedAt },
  first_reported_at: { label: 'First reported', of: ({ firstReportedAt }) => firstReportedAt },
  created_at: { label: 'Declared', of: ({ createdAt }) => createdAt },
  first_responded_at: { label: 'First response', of: ({ firstRespondedAt }) => firstRespondedAt },
  // Stands for it in statistics.
  first_acted_at: {
    label: 'First act of another person',
    of: ({ firstRespondedAt, firstActedAt }) => (firstRespondedAt === null ? firstActedAt : null),
  },
  recovered_at: { label: 'Recovered', of: ({ recoveredAt }) => recoveredAt },
  ended_at: { label: 'Resolved or closed', of: ({ endedAt }) => endedAt },
} as const satisfies Record<string, { label: string; of: (incident: Incident) => Instant | null }>;

export type MomentName = keyof typeof MOMENTS;
export const MOMENT_NAMES = Object.keys(MOMENTS) as [MomentName, ...MomentName[]];

export interface Moment {
  name: MomentName;
  label: string;
  at: Instant;
  /** Whole seconds since the moment before; null: it is the first. */
  sincePrevious: number | null;
}

const secondsBetween = (from: Instant, to: Instant) => Math.floor((Date.parse(to) - Date.parse(from)) / 1_000);

/** The moments that are known, in the order of time. */
export function momentsOf(incident: Incident): Moment[] {
  const moments = MOMENT_NAMES.flatMap((name) => {
    const at = MOMENTS[name].of(incident);
    return at === null ? [] : [{ name, label: MOMENTS[name].label, at }];
  }).sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return moments.map((moment, index) => {
    const previous = moments[index - 1];
    return { ...moment, sincePrevious: previous === undefined ? null : secondsBetween(previous.at, moment.at) };
  });
}

/** Seconds from the beginning of the incident, as statistics measure them (contract: Incident statistics); null: unknown. */
export function measuresOf(incident: Incident) {
  const { impactStartedAt, firstReportedAt, createdAt } = incident;
  const begin = { impact_started_at: impactStartedAt, first_reported_at: firstReportedAt, created_at: createdAt }[
    durationAnchor(incident)
  ];
  const secondsTo = (at: Instant | null) =>
    at === null || begin === null ? null : Math.max(0, secondsBetween(begin, at));
  return {
    response: secondsTo(incident.firstRespondedAt ?? incident.firstActedAt),
    recovery: secondsTo(incident.recoveredAt ?? incident.endedAt),
  };
}
