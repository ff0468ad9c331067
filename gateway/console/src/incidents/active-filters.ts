import { useConfiguration, useFields, useServices, useTeams } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { type ListSearch, POSTMORTEM_FILTERS } from './incident-filters.ts';

interface ActiveFilter {
  name: keyof ListSearch;
  /** What it selects, in words. */
  label: string;
  /** Takes it away. */
  without: Partial<ListSearch>;
}

/** What selects incidents of the list, beside their status. */
export function useActiveFilters(search: ListSearch): ActiveFilter[] {
  const { severities } = useConfiguration();
  const { data: services = [] } = useServices();
  const { data: teams = [] } = useTeams();
  const { data: customFields = [] } = useFields();
  const { q, severity, service, team, alerts, postmortem, days, from, until, fields = [] } = search;
  const labels: Partial<Record<keyof ListSearch, string | false | undefined>> = {
    q: q && `Search “${q}”`,
    severity: severity?.map((key) => severities.find((each) => each.key === key)?.label ?? key).join(' or '),
    service: service && (services.find(({ slug }) => slug === service)?.name ?? service),
    team: team !== undefined && (teams.find(({ id }) => id === team)?.name ?? `Team ${team}`),
    alerts: alerts && 'Alerts nobody has looked at',
    postmortem: postmortem?.map((key) => POSTMORTEM_FILTERS.find(([each]) => each === key)?.[1] ?? key).join(' or '),
    days: days && `Last ${days} days`,
    from: (from ?? until) && 'Dates',
  };
  const active = (Object.keys(labels) as (keyof ListSearch)[]).flatMap((name): ActiveFilter[] => {
    const label = labels[name];
    const without = name === 'from' ? { from: undefined, until: undefined } : { [name]: undefined };
    return label === undefined || label === false || label === '' ? [] : [{ name, label, without }];
  });
  return [
    ...active,
    ...fields.map(({ slug, operator, value }, index): ActiveFilter => {
      const name = customFields.find((field) => field.slug === slug)?.name ?? slug;
      return {
        name: 'fields',
        label: `${name} ${operator.replaceAll('_', ' ')} ${formatValue(value)}`,
        without: { fields: fields.length === 1 ? undefined : fields.toSpliced(index, 1) },
      };
    }),
  ];
}
