import type { IncidentSnapshot } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';

export interface IncidentCreated {
  eventId: string;
  occurredAt: Instant;
  incident: IncidentSnapshot;
  isRestricted: boolean;
  /** A link to the incident, if links are configured. */
  url: string | undefined;
}

/** The exact body of an `incident.created` request (contract: Webhooks). Empty optional properties are omitted. */
export function incidentCreatedBody({ eventId, occurredAt, incident, isRestricted, url }: IncidentCreated): string {
  const { id, reference, created_at, title, service, regions, severity, status, issue_type, impact_summary } = incident;
  const optional = { title, service, regions, severity, status, issue_type, impact_summary };
  return JSON.stringify({
    id: eventId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    ...(isRestricted && { restricted: true }),
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

/** The exact body of the request that verifies a receiver (contract: Webhooks). */
export function verificationBody(eventId: string, occurredAt: Instant, subscriptionId: string): string {
  return JSON.stringify({
    id: eventId,
    type: 'webhook.verification',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'webhook', id: subscriptionId },
  });
}

/** Fills the template of links to incidents; `{workspace}` is replaced by the slug. */
export function resourceUrl(
  template: string,
  workspaceSlug: string,
  incident: Pick<IncidentSnapshot, 'id' | 'reference'>,
): string {
  return template
    .replaceAll('{workspace}', encodeURIComponent(workspaceSlug))
    .replaceAll('{id}', String(incident.id))
    .replaceAll('{reference}', encodeURIComponent(incident.reference));
}

/** The incident's number in its workspace; undefined when the reference is not of the form `INC-<number>`. */
export function incidentNumberOf({ reference }: Pick<IncidentSnapshot, 'reference'>): number | undefined {
  const number = Number(/^INC-([1-9]\d*)$/.exec(reference)?.[1]);
  return Number.isSafeInteger(number) ? number : undefined;
}
