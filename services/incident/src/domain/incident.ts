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

/** What a client sets at creation, and all but `shortTitle` by PATCH too. Empty text means "none", null "not known". */
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
  /** As a piece of a chat channel's name. */
  shortTitle: string;
}

/** An incident as it is kept (contract: Incidents). */
export interface Incident extends IncidentProperties {
  id: number;
  workspaceId: number;
  /** Counts from 1 in each workspace. */
  number: number;
  revision: number;
  statusChangedAt: Instant | null;
  /** When it last went into a terminal status, while its status is terminal. */
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

/** An incident before the database has given it its ID and its number. */
export type UnnumberedIncident = Omit<Incident, 'id' | 'number'>;

/** The permanent reference that people use. */
export const humanId = (number: number | string) => `INC-${number}`;

/** The number in a reference, whatever its case; `undefined` for what is no reference of ours. */
export function numberOf(reference: string): number | undefined {
  const digits = /^inc-([1-9]\d{0,15})$/i.exec(reference)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export type DurationAnchor = 'impact_started_at' | 'first_reported_at' | 'created_at';

/**
 * How long the incident has lasted, or lasted, in whole seconds, never negative: from the first known of the start of
 * impact, the first report and the creation, to the recovery, else the end, else `now`.
 */
export function duration(incident: Incident, now: Instant): { seconds: number; anchor: DurationAnchor } {
  const [anchor, from] =
    incident.impactStartedAt !== null
      ? (['impact_started_at', incident.impactStartedAt] as const)
      : incident.firstReportedAt !== null
        ? (['first_reported_at', incident.firstReportedAt] as const)
        : (['created_at', incident.createdAt] as const);
  const to = incident.recoveredAt ?? incident.endedAt ?? now;
  return { anchor, seconds: Math.max(0, Math.floor((Date.parse(to) - Date.parse(from)) / 1_000)) };
}
