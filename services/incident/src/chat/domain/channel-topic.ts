import type { IncidentRole } from '../../configuration/domain/configuration.ts';
import type { Change } from '../../incidents/domain/changes.ts';
import type { Incident } from '../../incidents/domain/incident.ts';

/** As Slack counts. */
const MAX_TOPIC = 250;

type People = Pick<Incident, 'incidentManager' | 'roles'>;

/** The IDs of users, and the names of others, whom the topic names. */
export const peopleOf = ({ incidentManager, roles }: People): string[] =>
  [incidentManager, ...Object.values(roles).flat()].filter((person) => person !== '');

/** Whether the topic of a channel is to be set after changes of an incident. A new channel only has to name who is there. */
export const changesTopic = (incident: People, changes: readonly Change[]) =>
  changes.some(
    ({ field }) =>
      field === 'incident_manager' ||
      field.startsWith('roles.') ||
      (field === 'slack_channel_id' && peopleOf(incident).length > 0),
  );

/** Returns the topic, as text without markup: `Incident manager: Ana · Scribe: Ben, Cy`; empty: nobody. */
export function channelTopic(
  { incidentManager, roles }: People,
  { configured, nameOf }: { configured: readonly IncidentRole[]; nameOf: (person: string) => string },
): string {
  const labels = new Map(configured.map(({ key, label }) => [key, label]));
  const keys = [...new Set([...labels.keys(), ...Object.keys(roles)])];
  const holders = new Map(Object.entries(roles));
  const parts = [
    ['Incident manager', incidentManager === '' ? [] : [incidentManager]] as const,
    ...keys.map((key) => [labels.get(key) ?? key, holders.get(key) ?? []] as const),
  ].filter(([, people]) => people.length > 0);
  const text = parts.map(([label, people]) => `${label}: ${people.map(nameOf).join(', ')}`).join(' · ');
  return [...text.replaceAll(/\s+/g, ' ')].slice(0, MAX_TOPIC).join('');
}
