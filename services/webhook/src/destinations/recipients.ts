import { invalidRequest, invalidState } from '@tocsin/http';
import type { EventContext } from '@tocsin/schemas';
import type { IncidentClient } from '../subscriptions/clients/incidents.ts';
import type { Destination } from './domain/destination.ts';

type Incidents = Pick<IncidentClient, 'eventContext'>;

/** Those of the recipients who are active users: mail goes to nobody else. */
export function activeAmong(recipients: readonly string[], { users }: Pick<EventContext, 'users'>): readonly string[] {
  const active = new Set(users.filter((user) => user.active).map((user) => user.email.toLowerCase()));
  return recipients.filter((recipient) => active.has(recipient.toLowerCase()));
}

/** The same, asked of the workspace. */
export async function activeRecipients(
  incidents: Incidents,
  { workspaceId, recipients }: Pick<Destination, 'workspaceId' | 'recipients'>,
): Promise<readonly string[]> {
  if (recipients.length === 0) return [];
  const asked = { workspace_id: workspaceId, incident_ids: [], user_ids: [], services: [], emails: [...recipients] };
  return activeAmong(recipients, await incidents.eventContext(asked));
}

/** @throws DomainError `invalid_request` for one who is no active user, `invalid_resource_state` without a mail server */
export async function checkRecipients(
  { incidents, sendsMail }: { incidents: Incidents; sendsMail: boolean },
  destination: Pick<Destination, 'workspaceId' | 'recipients'>,
): Promise<void> {
  const { recipients } = destination;
  if (recipients.length === 0) return;
  if (!sendsMail) throw invalidState('Tocsin has no mail server: the operator sets SMTP_URL');
  const active = await activeRecipients(incidents, destination);
  const other = recipients.findIndex((recipient) => !active.includes(recipient));
  if (other !== -1) throw invalidRequest(`recipients.${other}`, "Must be an active user's email address");
}
