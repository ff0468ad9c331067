import type { Instant } from '@tocsin/runtime';
import type { IncidentProperties, UnnumberedIncident } from '../../incidents/domain/incident.ts';
import { INITIAL } from '../../incidents/domain/property-sets.ts';

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
    ...INITIAL,
    ...properties,
    workspaceId,
    endedAt: statusIsTerminal ? now : null,
    customFields,
    createdAt: now,
    createdBy,
  };
}
