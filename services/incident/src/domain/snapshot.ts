import type { IncidentSnapshot } from '@tocsin/contracts';
import { humanId, type Incident } from './incident.ts';

/** Returns an incident as events contain it (contract: Events on the broker). */
export function incidentSnapshot(incident: Incident): IncidentSnapshot {
  return {
    id: incident.id,
    reference: humanId(incident.number),
    revision: incident.revision,
    title: incident.title,
    service: incident.service,
    regions: [...incident.regions],
    severity: incident.severity,
    status: incident.status,
    issue_type: incident.issueType,
    impact_summary: incident.impactSummary,
    team_id: incident.teamId,
    created_at: incident.createdAt,
    created_by: incident.createdBy,
    archived_at: incident.archivedAt,
  };
}
