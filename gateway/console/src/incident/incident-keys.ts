import type { Incident } from '@tocsin/sdk';
import { sayError } from '../api/failures.ts';
import { queryClient, useAccess } from '../api/hooks.ts';
import { say } from '../ui/toast.tsx';
import { useKeys } from '../ui/use-keys.ts';
import type { EditedIncident } from './save-incident.tsx';

/** Opens the editor of a property, where it stands. */
function edit(label: string): void {
  const buttons = [...document.querySelectorAll<HTMLElement>('main button')];
  buttons.find((button) => button.textContent.startsWith(`Edit ${label}:`))?.click();
}

/** The address of an incident that people say. */
const addressOf = ({ human_id: name }: Incident): string => `${window.location.origin}/app/incidents/${name}`;

async function copyAddress(incident: Incident): Promise<void> {
  try {
    await navigator.clipboard.writeText(addressOf(incident));
    say(`The address of ${incident.human_id} is copied.`);
  } catch {
    // Without HTTPS, or without permission.
    say(addressOf(incident));
  }
}

async function assignTo(incident: Incident, userId: number, save: EditedIncident['save']): Promise<void> {
  const { id, human_id: name, incident_manager: before, revision } = incident;
  const lead = String(userId);
  try {
    await save({ changes: { incident_manager: lead }, base: { incident_manager: before }, revision });
    const stored = queryClient.getQueryData<{ incident: Incident }>([`/incidents/${id}`]);
    if (stored?.incident.incident_manager === lead) say(`You lead ${name}.`);
  } catch (error) {
    sayError(error);
  }
}

/** What keys do on the page of an incident. */
export function useIncidentKeys(incident: Incident, { canEdit, save }: Pick<EditedIncident, 'canEdit' | 'save'>): void {
  const { user } = useAccess();
  useKeys({
    y: () => void copyAddress(incident),
    s: canEdit && (() => edit('Status')),
    v: canEdit && (() => edit('Severity')),
    l: canEdit && (() => edit('Lead')),
    e: canEdit && (() => edit('Title')),
    a: canEdit && user !== undefined && (() => void assignTo(incident, user.id, save)),
  });
}
