import type { Instant } from '@tocsin/runtime';
import type { IncidentProperties, UnnumberedIncident } from '../../incidents/domain/incident.ts';

/** The defaults of a new incident's properties (contract: Incidents). */
const DEFAULTS = {
  service: '',
  regions: [],
  issueType: 'incident',
  teamId: null,
  slackChannelId: '',
  meetUrl: '',
  docUrl: '',
  impactSummary: '',
  customerImpactStatus: 'unknown',
  impactStartedAt: null,
  firstReportedAt: null,
  firstRespondedAt: null,
  recoveredAt: null,
  incidentManager: '',
  incidentResponders: [],
  shortTitle: '',
} as const satisfies Partial<IncidentProperties>;

export interface NewIncidentInput {
  workspaceId: number;
  /** The request's properties with the workspace's defaults. */
  properties: Partial<IncidentProperties> & Pick<IncidentProperties, 'title' | 'severity' | 'severityMode' | 'status'>;
  statusIsTerminal: boolean;
  customFields: Readonly<Record<string, unknown>>;
  createdBy: string;
  now: Instant;
}

/** Returns a new incident, before the database assigns its ID and number. */
export function newIncident({
  workspaceId,
  properties,
  statusIsTerminal,
  customFields,
  createdBy,
  now,
}: NewIncidentInput): UnnumberedIncident {
  return {
    ...DEFAULTS,
    ...properties,
    workspaceId,
    revision: 1,
    // The initial status is not a change of status.
    statusChangedAt: null,
    endedAt: statusIsTerminal ? now : null,
    customFields,
    eventCount: 0,
    lastEventAt: null,
    lastEventSummary: '',
    runCount: 0,
    latestRun: null,
    createdAt: now,
    createdBy: createdBy,
    archivedAt: null,
    archivedBy: null,
  };
}
