import type { Incident } from '@tocsin/sdk';
import { write } from '../api/client.ts';
import { refresh, useAccess } from '../api/hooks.ts';
import { say, sayError } from '../ui/toast.tsx';
import { useKeys } from '../ui/use-keys.ts';

/** Opens the editor of a property, where it stands. */
function edit(label: string): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('main button')];
  buttons.find((button) => button.textContent.startsWith(`Edit ${label}:`))?.click();
}

/** The address of an incident that people say. */
export const addressOf = ({ human_id: name }: Incident): string => `${window.location.origin}/app/incidents/${name}`;

export async function copyAddress(incident: Incident): Promise<void> {
  try {
    await navigator.clipboard.writeText(addressOf(incident));
    say(`The address of ${incident.human_id} is copied.`);
  } catch {
    // Without HTTPS, or without permission.
    say(addressOf(incident));
  }
}

export async function assignTo(incident: Incident, userId: number): Promise<void> {
  const body = { incident_manager: String(userId) };
  try {
    await write({ method: 'PATCH', path: `/incidents/${incident.id}`, body, revision: incident.revision });
    say(`You lead ${incident.human_id}.`);
  } catch (error) {
    sayError(error);
  }
  await refresh('/incidents');
}

/** What keys do on the page of an incident. */
export function useIncidentKeys(incident: Incident | undefined): void {
  const { canRespond, user } = useAccess();
  const canEdit = canRespond && incident?.archived_at === null;
  useKeys({
    y: incident !== undefined && (() => void copyAddress(incident)),
    s: canEdit && (() => edit('Status')),
    v: canEdit && (() => edit('Severity')),
    e: canEdit && (() => edit('Title')),
    a: canEdit && user !== undefined && (() => void assignTo(incident, user.id)),
  });
}
