import type { Incident } from '@tocsin/sdk';
import { useConfiguration, useFields, useNameOf, useServices, useTeams } from '../api/hooks.ts';
import type { Describe } from '../resources/conflict.tsx';
import { formatName, formatValue } from '../ui/format.ts';
import { type Options, choices } from '../ui/fields.tsx';
import { optionsOf } from './incident-filters.ts';
import { POSTMORTEM_STATES } from './incident-labels.tsx';

export const IMPACT: Options = [
  ['unknown', 'Not known'],
  ['none', 'Not affected'],
  ['confirmed', 'Affected'],
];
/** How the page calls properties, where it does not use the name of the API. */
const LABELS: Readonly<Record<string, string>> = {
  incident_manager: 'Lead',
  incident_responders: 'Responders',
  team_id: 'Team',
  customer_impact_status: 'Customers',
  impact_started_at: 'Impact began',
  first_reported_at: 'Reported',
  first_responded_at: 'Responded',
  first_acted_at: 'First act',
  recovered_at: 'Recovered',
  next_update_at: 'Next update',
  meet_url: 'Call',
  doc_url: 'Document',
  slack_channel_id: 'Chat channel',
  visible_to: 'Also visible to',
  archived_at: 'Archived',
  postmortem_state: 'Post-mortem',
  body: 'Text',
  started_at: 'Began',
  ended_at: 'Ended',
  is_ongoing: 'Goes on',
  is_key: 'Key event',
  duration_seconds: 'Duration',
  event_count: 'Events',
  due_on: 'Due',
  external_url: 'Link',
  'relations.duplicate_of': 'Duplicate of',
  'relations.duplicated_by': 'Duplicated by',
  'relations.caused_by': 'Caused by',
  'relations.causes': 'Causes',
  'relations.related': 'Related to',
};
export const labelOf = (name: string): string => LABELS[name] ?? formatName(name);

const PEOPLE = ['incident_manager', 'incident_responders', 'archived_by', 'owner'];
const FIELD = 'custom_fields.';
export const ROLE = 'roles.';
/** What the changelog calls a part of an incident, and its property. */
export const PART = /^(timeline_events|follow_ups)\.(\d+)(?:\.(.+))?$/;
const PARTS: Readonly<Record<string, string>> = { timeline_events: 'Event', follow_ups: 'Follow-up' };

/** Names and values of incidents and their events, as the page shows them. */
export function useDescribe(): Describe {
  const nameOf = useNameOf();
  const { statuses, severities, roles } = useConfiguration();
  const { data: teams = [] } = useTeams();
  const { data: services = [] } = useServices();
  const { data: fields = [] } = useFields();
  const fieldOf = (name: string) => fields.find(({ slug }) => name === FIELD + slug);
  const optionsFor = (name: string): Options => {
    if (name === 'status') return choices(statuses, 'key', 'label');
    if (name === 'severity') return choices(severities, 'key', 'label');
    if (name === 'team_id') return choices(teams, 'id', 'name');
    if (name === 'service') return choices(services, 'slug', 'name');
    if (name === 'customer_impact_status') return IMPACT;
    if (name === 'postmortem_state') return POSTMORTEM_STATES;
    const field = fieldOf(name);
    return field === undefined ? [] : optionsOf(field);
  };
  const one = (name: string, value: unknown): string => {
    if (name === 'visible_to') {
      const { users, teams } = value as Incident['visible_to'];
      return [...users.map(nameOf), ...teams.map((id) => one('team_id', id))].join(', ') || 'nobody';
    }
    const isText = (typeof value === 'string' && value !== '') || typeof value === 'number';
    if (!isText) return formatValue(value);
    if (PEOPLE.includes(PART.exec(name)?.[3] ?? name) || name.startsWith(ROLE)) return nameOf(value);
    const optionLabel = optionsFor(name).find(([key]) => key === String(value))?.[1];
    return optionLabel ?? (name === 'team_id' ? `Team ${value}` : formatValue(value));
  };
  return {
    label: (name) => {
      const [, part = '', , property = ''] = PART.exec(name) ?? [];
      if (part !== '') return `${PARTS[part]}: ${labelOf(property).toLowerCase()}`;
      if (name.startsWith(ROLE)) return roles.find(({ key }) => name === ROLE + key)?.label ?? name.slice(ROLE.length);
      return fieldOf(name)?.name ?? labelOf(name.replace(FIELD, ''));
    },
    value: (name, value) =>
      Array.isArray(value) && value.length > 0 ? value.map((each) => one(name, each)).join(', ') : one(name, value),
  };
}
