import type { CustomField } from '@tocsin/sdk';
import type { Options } from '../ui/ui.tsx';

/** The list that somebody looks at, as the address has it. */
export interface ListSearch {
  /** `open` by default. */
  view?: 'all' | 'archived';
  q?: string;
  status?: string[];
  severity?: string[];
  service?: string;
  team?: number;
  /** Slugs with operator and value. */
  fields?: FieldFilter[];
  sort?: Sort;
  direction?: 'asc';
}

export interface FieldFilter {
  slug: string;
  operator: string;
  value: unknown;
}

export const SORTS = [
  ['created_at', 'Declared'],
  ['last_event_at', 'Last event'],
  ['severity', 'Severity'],
  ['status', 'Status'],
  ['service', 'Service'],
  ['team', 'Team'],
] as const;

type Sort = (typeof SORTS)[number][0];

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);
const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) && value.length > 0 ? value.map(String) : undefined;

const isFilter = (value: unknown): value is FieldFilter =>
  typeof value === 'object' && value !== null && 'slug' in value && 'operator' in value && 'value' in value;

/** Anybody may write an address: what it does not understand is left out. */
export function readListSearch(search: Record<string, unknown>): ListSearch {
  const sort = SORTS.find(([key]) => key === search['sort'])?.[0];
  const fields = Array.isArray(search['fields']) ? search['fields'].filter(isFilter) : [];
  const read: Record<keyof ListSearch, unknown> = {
    view: search['view'] === 'all' || search['view'] === 'archived' ? search['view'] : undefined,
    q: text(search['q']),
    status: texts(search['status']),
    severity: texts(search['severity']),
    service: text(search['service']),
    team: typeof search['team'] === 'number' ? search['team'] : undefined,
    fields: fields.length > 0 ? fields : undefined,
    sort,
    direction: search['direction'] === 'asc' ? 'asc' : undefined,
  };
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

/** The path of the list and its parameters. */
export const listRequest = (search: ListSearch) => ({
  path: search.view === 'archived' ? '/incidents/archived' : '/incidents',
  parameters: {
    ...filterParameters(search),
    status_scope: search.view === undefined && search.status === undefined ? 'nonterminal' : undefined,
    sort: search.view === 'archived' ? undefined : search.sort,
    direction: search.direction,
    include_counts: true,
    limit: 30,
  },
});

export const filterParameters = ({ q, status, severity, service, team, fields = [] }: ListSearch) => ({
  q,
  status,
  severity,
  service,
  team_id: team,
  custom_filter: fields.map((filter) => JSON.stringify(filter)),
});

/** What a filter of a field can ask, with the words for it. */
export const OPERATORS: Readonly<Record<string, Options>> = {
  string: [
    ['contains', 'contains'],
    ['is', 'is'],
    ['starts_with', 'starts with'],
  ],
  select: [
    ['is', 'is'],
    ['is_not', 'is not'],
  ],
  multi_select: [
    ['includes_any', 'includes'],
    ['excludes', 'excludes'],
  ],
  boolean: [['is', 'is']],
  number: [
    ['gte', 'at least'],
    ['lte', 'at most'],
    ['eq', 'is'],
  ],
  date: [
    ['gte', 'from'],
    ['lte', 'until'],
    ['is', 'is'],
  ],
};

/** The value of a filter as its type wants it. @returns undefined for a text that is none */
export function filterValue(type: CustomField['field_type'], value: string): unknown {
  if (value === '') return undefined;
  if (type === 'number') return Number.isFinite(Number(value)) ? Number(value) : undefined;
  if (type === 'boolean') return value === 'true';
  return type === 'multi_select' ? [value] : value;
}

export const YES_OR_NO: Options = [
  ['true', 'yes'],
  ['false', 'no'],
];

export const optionsOf = ({ config }: CustomField): Options =>
  (config?.options ?? []).map((each) =>
    typeof each === 'string' ? [each, each] : [each.value, each.label ?? each.value],
  );
