import type { Instant } from '@tocsin/runtime';
import type { IncidentProperties, UnnumberedIncident } from './incident.ts';

/** What a new incident is before anybody said anything about it (contract: Incidents). */
const BLANK = {
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

export interface Declaration {
  workspaceId: number;
  /** What the client said; the workspace's defaults are in it already. */
  properties: Partial<IncidentProperties> & Pick<IncidentProperties, 'title' | 'severity' | 'severityMode' | 'status'>;
  statusIsTerminal: boolean;
  customFields: Readonly<Record<string, unknown>>;
  by: string;
  now: Instant;
}

export function declare({
  workspaceId,
  properties,
  statusIsTerminal,
  customFields,
  by,
  now,
}: Declaration): UnnumberedIncident {
  return {
    ...BLANK,
    ...properties,
    workspaceId,
    revision: 1,
    // Its first status is no change of status.
    statusChangedAt: null,
    endedAt: statusIsTerminal ? now : null,
    customFields,
    eventCount: 0,
    lastEventAt: null,
    lastEventSummary: '',
    runCount: 0,
    latestRun: null,
    createdAt: now,
    createdBy: by,
    archivedAt: null,
    archivedBy: null,
  };
}
