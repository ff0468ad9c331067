import type { Instant } from '@tocsin/runtime';

export const ISSUE_TYPES = ['ticket', 'incident', 'postmortem'] as const;
export const SEVERITY_MODES = ['auto', 'manual'] as const;
export const CUSTOMER_IMPACTS = ['unknown', 'none', 'confirmed'] as const;
export const RUN_STATUSES = ['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable'] as const;

/** The investigation run that started last. */
export interface InvestigationRun {
  runId: string;
  status: (typeof RUN_STATUSES)[number];
  startedAt: Instant;
  completedAt: Instant | null;
}

/** The properties that a client sets, at creation and, except `shortTitle`, by PATCH. Empty text: none; null: unknown. */
export interface IncidentProperties {
  title: string;
  service: string;
  regions: readonly string[];
  severity: string;
  severityMode: (typeof SEVERITY_MODES)[number];
  status: string;
  issueType: (typeof ISSUE_TYPES)[number];
  teamId: number | null;
  slackChannelId: string;
  meetUrl: string;
  docUrl: string;
  impactSummary: string;
  customerImpactStatus: (typeof CUSTOMER_IMPACTS)[number];
  impactStartedAt: Instant | null;
  firstReportedAt: Instant | null;
  firstRespondedAt: Instant | null;
  recoveredAt: Instant | null;
  incidentManager: string;
  incidentResponders: readonly string[];
  /** A part of the chat channel's name. */
  shortTitle: string;
}

/** An incident (contract: Incidents). */
export interface Incident extends IncidentProperties {
  id: number;
  workspaceId: number;
  /** Counts from 1 in each workspace. */
  number: number;
  revision: number;
  statusChangedAt: Instant | null;
  /** When the incident last entered a terminal status; null while its status is not terminal. */
  endedAt: Instant | null;
  customFields: Readonly<Record<string, unknown>>;
  eventCount: number;
  lastEventAt: Instant | null;
  lastEventSummary: string;
  runCount: number;
  latestRun: InvestigationRun | null;
  createdAt: Instant;
  createdBy: string;
  archivedAt: Instant | null;
  archivedBy: number | null;
}

/** An incident before the database assigns its ID and number. */
export type UnnumberedIncident = Omit<Incident, 'id' | 'number'>;

/** Returns the custom-field value of a slug, null if unset. Slugs may equal inherited properties, such as `constructor`. */
export const getValue = (values: Readonly<Record<string, unknown>>, slug: string): unknown =>
  Object.hasOwn(values, slug) ? values[slug] : null;

/** The permanent reference for users. */
export const humanId = (number: number | string) => `INC-${number}`;

/** Returns the number in a reference, case-insensitive; `undefined` for an invalid reference. */
export function numberOf(reference: string): number | undefined {
  const digits = /^inc-([1-9]\d{0,15})$/i.exec(reference)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export type DurationAnchor = 'impact_started_at' | 'first_reported_at' | 'created_at';

/**
 * Returns the duration of an incident in whole seconds, never negative. It begins at the start of impact, else the first
 * report, else the creation; it ends at the recovery, else the end, else `now`.
 */
export function duration(
  incident: Pick<Incident, 'impactStartedAt' | 'firstReportedAt' | 'createdAt' | 'recoveredAt' | 'endedAt'>,
  now: Instant,
): { seconds: number; anchor: DurationAnchor } {
  const [anchor, from] =
    incident.impactStartedAt !== null
      ? (['impact_started_at', incident.impactStartedAt] as const)
      : incident.firstReportedAt !== null
        ? (['first_reported_at', incident.firstReportedAt] as const)
        : (['created_at', incident.createdAt] as const);
  const to = incident.recoveredAt ?? incident.endedAt ?? now;
  return { anchor, seconds: Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000)) };
}
