import type { CustomField } from '@tocsin/sdk';
import type { Options } from '../ui/fields.tsx';

/** The list that somebody looks at, as the address has it. */
export interface ListSearch {
  /** By default what goes on, or everything if a text is searched. */
  view?: View;
  q?: string;
  status?: string[];
  severity?: string[];
  service?: string;
  team?: number;
  /** Those that an alert declared and on which nobody has acted. */
  alerts?: true;
  /** How far the post-mortem is; `none`: nobody has begun it. */
  postmortem?: string[];
  /** Declared in the last days, today included. */
  days?: (typeof DAYS)[number];
  /** Declared at this day or moment, or later; RFC 3339. */
  from?: string;
  /** Declared until the end of this day, or before this moment. */
  until?: string;
  /** Slugs with operator and value. */
  fields?: FieldFilter[];
  sort?: Sort;
  direction?: 'asc';
}

export type Change = (changes: Partial<ListSearch>) => void;

export const POSTMORTEM_FILTERS: Options = [
  ['', 'Any post-mortem'],
  ['none', 'No post-mortem'],
  ['draft', 'Post-mortem in draft'],
  ['in_review', 'Post-mortem in review'],
  ['published', 'Post-mortem published'],
];
export const DAYS = [7, 30, 90] as const;
const VIEWS = ['ongoing', 'all', 'archived'] as const;
type View = (typeof VIEWS)[number];

/** The list that was shown last, for the way back from an incident. */
let last: ListSearch = {};
export const lastList = (): ListSearch => last;
export const rememberList = (search: ListSearch): void => void (last = search);

/** Whether the list has only incidents that go on. */
export const isOngoing = ({ view, status, q }: ListSearch): boolean =>
  status === undefined && (view === 'ongoing' || (view === undefined && q === undefined));

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

const DAY = /^\d{4}-\d\d-\d\d$/;
const moment = (value: unknown): string | undefined =>
  typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;

/** The midnight of a day in the time zone of the browser, `after` days later. */
const midnight = (day: Date, after = 0): Date => new Date(day.getFullYear(), day.getMonth(), day.getDate() + after);
/** The midnight at which a day begins, `after` days later, or the moment itself; RFC 3339. */
const startOf = (time: string, after = 0): string =>
  DAY.test(time) ? midnight(new Date(`${time}T00:00`), after).toISOString() : time;

/** The local day of a day or of a moment, `before` milliseconds of it. */
export function toDay(time: string, milliseconds = 0): string {
  if (DAY.test(time)) return time;
  const date = new Date(Date.parse(time) + milliseconds);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

const isFilter = (value: unknown): value is FieldFilter =>
  typeof value === 'object' && value !== null && 'slug' in value && 'operator' in value && 'value' in value;

/** Anybody may write an address: what it does not understand is left out. */
export function readListSearch(search: Record<string, unknown>): ListSearch {
  const sort = SORTS.find(([key]) => key === search['sort'])?.[0];
  const fields = Array.isArray(search['fields']) ? search['fields'].filter(isFilter) : [];
  const read: Record<keyof ListSearch, unknown> = {
    view: VIEWS.find((view) => view === search['view']),
    // The router reads a text of digits as a number.
    q: text(typeof search['q'] === 'number' ? String(search['q']) : search['q']),
    status: texts(search['status']),
    severity: texts(search['severity']),
    service: text(search['service']),
    team: typeof search['team'] === 'number' ? search['team'] : undefined,
    alerts: search['alerts'] === true || undefined,
    postmortem: texts(
      [search['postmortem']].flat().filter((state) => POSTMORTEM_FILTERS.some(([key]) => key === state && key !== '')),
    ),
    days: DAYS.find((days) => days === search['days']),
    from: moment(search['from']),
    until: moment(search['until']),
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
    status_scope: isOngoing(search) ? 'nonterminal' : undefined,
    sort: search.view === 'archived' ? undefined : search.sort,
    direction: search.direction,
    include_counts: true,
    limit: 30,
  },
});

const filterParameters = ({
  q,
  status,
  severity,
  service,
  team,
  alerts,
  postmortem,
  days,
  from,
  until,
  fields = [],
}: ListSearch) => ({
  q,
  created_from: days === undefined ? from && startOf(from) : midnight(new Date(), 1 - days).toISOString(),
  created_before: until && startOf(until, 1),
  status,
  severity,
  service,
  team_id: team,
  lifecycle: alerts && 'alert',
  postmortem,
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
