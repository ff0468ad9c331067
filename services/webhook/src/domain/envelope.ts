import type { IncidentSnapshot } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';

export interface IncidentCreated {
  eventId: string;
  occurredAt: Instant;
  incident: IncidentSnapshot;
  /** A link to the incident, where links are configured. */
  url: string | undefined;
}

/** The exact text that receivers of `incident.created` get (contract: Webhooks); empty optional members are left out. */
export function incidentCreatedBody({ eventId, occurredAt, incident, url }: IncidentCreated): string {
  const { id, reference, created_at, title, service, regions, severity, status, issue_type, impact_summary } = incident;
  const optional = { title, service, regions, severity, status, issue_type, impact_summary };
  return JSON.stringify({
    id: eventId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'incident', id, reference, revision: incident.revision, ...(url !== undefined && { url }) },
    data: {
      incident: {
        id,
        reference,
        created_at,
        ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value.length > 0)),
      },
    },
  });
}

/** The exact text of the request that verifies a receiver. */
export function verificationBody(eventId: string, occurredAt: Instant, subscriptionId: string): string {
  return JSON.stringify({
    id: eventId,
    type: 'webhook.verification',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'webhook', id: subscriptionId },
  });
}

/** Fills a link's template; `{workspace}` is the slug. */
export function resourceUrl(template: string, workspaceSlug: string, incident: IncidentSnapshot): string {
  return template
    .replaceAll('{workspace}', encodeURIComponent(workspaceSlug))
    .replaceAll('{id}', String(incident.id))
    .replaceAll('{reference}', encodeURIComponent(incident.reference));
}
