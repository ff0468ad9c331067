import { invalidRequest, invalidState } from '@tocsin/http';
import type { EventContext } from '@tocsin/schemas';
import type { IncidentClient } from '../subscriptions/clients/incidents.ts';
import type { Destination } from './domain/destination.ts';
import { KINDS_BY_NAME } from './domain/kinds/index.ts';

type Incidents = Pick<IncidentClient, 'eventContext'>;

type Recipients = Pick<Destination, 'kind' | 'recipients'>;

/** The email addresses of the people to whom a destination sends. */
export const peopleOf = ({ kind, recipients }: Recipients): readonly string[] =>
  KINDS_BY_NAME[kind].recipient === undefined ? recipients : [];

/** The recipients; of people, those who are active users: mail goes to nobody else. */
export function activeAmong(
  { kind, recipients }: Recipients,
  { users }: Pick<EventContext, 'users'>,
): readonly string[] {
  if (KINDS_BY_NAME[kind].recipient !== undefined) return recipients;
  const active = new Set(users.filter((user) => user.active).map((user) => user.email.toLowerCase()));
  return recipients.filter((recipient) => active.has(recipient.toLowerCase()));
}

/** The same, asked of the workspace. */
export async function activeRecipients(
  incidents: Incidents,
  { workspaceId, ...to }: Pick<Destination, 'workspaceId'> & Recipients,
): Promise<readonly string[]> {
  const people = peopleOf(to);
  if (people.length === 0) return to.recipients;
  const asked = { workspace_id: workspaceId, incident_ids: [], user_ids: [], services: [], emails: [...people] };
  return activeAmong(to, await incidents.eventContext(asked));
}

/** @throws DomainError `invalid_request` for one who is no active user, `invalid_resource_state` without a mail server */
export async function checkRecipients(
  { incidents, sendsMail }: { incidents: Incidents; sendsMail: boolean },
  destination: Pick<Destination, 'workspaceId'> & Recipients,
): Promise<void> {
  const recipients = peopleOf(destination);
  if (recipients.length === 0) return;
  if (!sendsMail) throw invalidState('Tocsin has no mail server: the operator sets SMTP_URL');
  const active = await activeRecipients(incidents, destination);
  const other = recipients.findIndex((recipient) => !active.includes(recipient));
  if (other !== -1) throw invalidRequest(`recipients.${other}`, "Must be an active user's email address");
}
