import type { DestinationFilters, FeedEvent } from '@tocsin/sdk';
import { useConfiguration, useNameOf, useServices, useTeams } from '../api/hooks.ts';
import type { Describe } from '../resources/conflict.tsx';
import { Checks, choices, type NameOf, type Options } from '../ui/fields.tsx';
import { formatName, formatValue } from '../ui/format.ts';
import ui from '../ui/ui.module.css';
import css from './destinations.module.css';

/** The values of all filters as texts, by the names of the API and in its order; an empty list selects all. */
export type Chosen = Record<keyof DestinationFilters, string[]>;

const EVENTS: Readonly<Record<FeedEvent['type'], string>> = {
  'incident.created': 'Incident declared',
  'incident.updated': 'Incident changed',
  'incident.archived': 'Incident archived',
  'incident.restored': 'Incident restored',
  'incident.update_due': 'Next update due',
  'incident.imported': 'Incident imported',
  'incident.deleted': 'Incident deleted for good',
  'timeline_event.created': 'Timeline event added',
  'timeline_event.updated': 'Timeline event changed',
  'timeline_event.deleted': 'Timeline event deleted',
  'timeline_event.restored': 'Timeline event restored',
  'follow_up.created': 'Follow-up added',
  'follow_up.updated': 'Follow-up changed',
  'follow_up.deleted': 'Follow-up deleted',
  'incident.postmortem_changed': 'Post-mortem begun or in another state',
  'service.changed': 'Service changed',
  'team.changed': 'Team changed',
  'custom-field.changed': 'Custom field changed',
};

/** Others are texts of clients, which the API takes. */
const TIMELINE_TYPES: Options = [
  ['update', 'Updates for others'],
  ['note', 'Notes'],
];

export const chosenOf = (filters: DestinationFilters): Chosen => ({
  event_types: filters.event_types ?? [],
  timeline_types: filters.timeline_types ?? [],
  severities: filters.severities ?? [],
  statuses: filters.statuses ?? [],
  services: filters.services ?? [],
  team_ids: filters.team_ids?.map(String) ?? [],
  roles: filters.roles ?? [],
});

export const filtersOf = ({ team_ids: teams, ...chosen }: Chosen): Required<DestinationFilters> => {
  const { event_types, timeline_types, severities, statuses, services, roles } = chosen;
  return { event_types, timeline_types, severities, statuses, services, team_ids: teams.map(Number), roles };
};

/** A filter, what it can be set to, and how its values are called. */
interface Filter {
  name: keyof DestinationFilters;
  label: string;
  options: Options;
  nameOf: NameOf;
}

export function useFilters(): readonly Filter[] {
  const { severities, statuses, roles } = useConfiguration();
  const { data: services = [] } = useServices();
  const { data: teams = [] } = useTeams();
  const personOf = useNameOf();
  /** @param otherwise the name of what is not among the options, such as what is archived */
  const filter = (name: Filter['name'], label: string, options: Options, otherwise: NameOf = String): Filter => {
    const names = new Map(options);
    return { name, label, options, nameOf: (value) => names.get(value) ?? otherwise(value) };
  };
  const ofRoles = filter('roles', 'Roles that somebody has', choices(roles, 'key', 'label'));
  return [
    filter('event_types', 'Events', Object.entries(EVENTS)),
    filter('severities', 'Severities', choices(severities, 'key', 'label')),
    filter('statuses', 'Statuses', choices(statuses, 'key', 'label')),
    filter('services', 'Services', choices(services, 'slug', 'name')),
    filter('team_ids', 'Teams', choices(teams, 'id', 'name'), (id) => `Team ${id}`),
    filter('timeline_types', 'Timeline', TIMELINE_TYPES),
    {
      ...ofRoles,
      // Such as `scribe:7`, the role of one user.
      nameOf: (value) => {
        const [role = '', user] = value.split(':');
        return ofRoles.nameOf(role) + (user === undefined ? '' : `: ${personOf(user)}`);
      },
    },
  ];
}

const namesOf = ({ nameOf }: Filter, values: readonly string[]) => values.map(nameOf).join(', ');

/** Filters in words, a line for each that does not select all. */
export function describeFilters(filters: readonly Filter[], chosen: Chosen): string[] {
  return filters.flatMap((filter) =>
    chosen[filter.name].length === 0 ? [] : [`${filter.label}: ${namesOf(filter, chosen[filter.name])}`],
  );
}

/** Which events a destination gets, or of which incidents a tracker makes tickets. */
export function FilterFields({
  filters,
  chosen,
  stored,
  onChosen,
  legend = 'What it gets',
  hint = 'It gets the events that match every list. With a severity, a status or a role, it gets only those of incidents.',
}: {
  legend?: string;
  hint?: string;
  filters: readonly Filter[];
  chosen: Chosen;
  stored: Chosen;
  onChosen: (chosen: Chosen) => void;
}) {
  return (
    <fieldset className={css.filters}>
      <legend className={ui.label}>{legend}</legend>
      <p className={ui.hint}>{hint}</p>
      {filters.map((filter) => {
        const { name, label, options, nameOf } = filter;
        const others = stored[name].filter((value) => options.every(([key]) => key !== value));
        const all = [...options, ...others.map((value) => [value, nameOf(value)] as const)];
        if (all.length === 0) return null;
        return (
          <details key={name}>
            <summary>
              {label}: <span className={ui.strong}>{namesOf(filter, chosen[name]) || 'all'}</span>
            </summary>
            <Checks
              bare
              label={label}
              name={`filters.${name}`}
              className={ui.choices}
              options={all}
              value={chosen[name]}
              onValue={(values) => onChosen({ ...chosen, [name]: values })}
            />
          </details>
        );
      })}
    </fieldset>
  );
}

/** Says the names of properties, and values, of what two people have changed. */
export const describeChange = (filters: readonly Filter[]): Describe => ({
  label: (name: string) => (name === 'filters' ? 'What it gets' : formatName(name)),
  value: (name: string, value: unknown) =>
    name === 'filters'
      ? describeFilters(filters, chosenOf(value as DestinationFilters)).join('; ') || 'everything'
      : formatValue(value),
});
