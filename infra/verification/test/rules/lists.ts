import { fold } from '@tocsin/schemas';
import { isPaged, OPERATIONS } from './operations.ts';

export type Item = Record<string, unknown> & { id: number };

/** What the lists of a workspace refer to. */
export interface Context {
  services: readonly Item[];
  teams: readonly Item[];
  statuses: readonly { key: string; is_terminal: boolean }[];
  severities: readonly { key: string }[];
  tiers: readonly { key: string }[];
  fields: readonly Item[];
  incidents: readonly Item[];
}

/** Values of a query parameter, and which elements of the list each selects. */
type Filter = (
  items: readonly Item[],
  context: Context,
) => (readonly [value: string, selects: (item: Item) => boolean])[];

type Key = string | number | null;
type Filters = NonNullable<Rules['filters']>;
type Sorts = NonNullable<Rules['sorts']>;

interface Rules {
  /** Default: of a parameter, the elements whose property of the same name has its value. */
  filters?: Readonly<Record<string, Filter>>;
  /** By the query that asks for it: by what it sorts, missing values last, then by ID. Default: any order. */
  sorts?: Readonly<Record<string, (item: Item, context: Context) => Key | readonly Key[]>>;
}

export interface List {
  path: string;
  /** The property of a page. */
  name: string;
  filters: Filters;
  /** Undefined, if no order is checked. */
  sorts: Readonly<Record<string, Sorts[string] | undefined>>;
}

const MOST = 6;
/** Some of the values, each once. */
const distinct = (values: readonly unknown[]): string[] => {
  const all = [...new Set(values.filter((value) => value !== null && value !== undefined && value !== '').map(String))];
  return all.filter((_, index) => index % Math.ceil(all.length / MOST) === 0);
};

const by =
  (property: string): Filter =>
  (items) => {
    if (!items.some((item) => property in item)) throw new Error(`no element has the property ${property}`);
    return distinct(items.map((item) => item[property])).map((value) => [
      value,
      (item) => String(item[property]) === value,
    ]);
  };

const flag =
  (matches: (item: Item, context: Context) => boolean, otherwise: 'all' | 'others' = 'all'): Filter =>
  (_, context) => [
    ['true', (item) => matches(item, context)],
    ['false', (item) => otherwise === 'all' || !matches(item, context)],
  ];

/** `from` and `to` include the moment. */
const moment =
  (property: string, bound: 'from' | 'to' | 'before'): Filter =>
  (items) =>
    distinct(items.map((item) => item[property])).map((value) => [
      value,
      ({ [property]: valueOfItem }) =>
        typeof valueOfItem === 'string' &&
        (bound === 'from' ? valueOfItem >= value : bound === 'to' ? valueOfItem <= value : valueOfItem < value),
    ]);

const text = (item: Item, property: string): string => (item[property] as string | undefined) ?? '';

/** Parts of texts, in other forms and cases than they have. */
const search =
  (matches: (item: Item, part: string) => boolean, ...properties: string[]): Filter =>
  (items) =>
    distinct(items.flatMap((item) => properties.map((property) => text(item, property).trim())))
      .flatMap((fullText, index) => {
        const part = Array.from(fullText)
          .slice(index % 3, 5 + 7 * (index % 3))
          .join('');
        return [part, part.toUpperCase(), part.normalize('NFD')];
      })
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => [part, (item) => matches(item, part)]);

/** As the catalog compares names: `ß` and `ss` differ. */
const lower = (name: unknown) => String(name).normalize('NFKC').toLowerCase();

const has =
  (property: string, form = fold) =>
  (item: Item, part: string) =>
    form(text(item, property)).includes(form(part));
const anyOf =
  (...tests: ((item: Item, part: string) => boolean)[]) =>
  (item: Item, part: string) =>
    tests.some((test) => test(item, part));

const isArchived = ({ archived_at }: Item) => (archived_at ?? null) !== null;
const archived: Filter = () => [
  ['true', () => true],
  ['false', (item) => !isArchived(item)],
];

const serviceOf = ({ service }: Item, { services }: Context) => services.find(({ slug }) => slug === service);
function effectiveTeam(item: Item, context: Context): unknown {
  const service = serviceOf(item, context);
  return item['team_id'] ?? (service === undefined || isArchived(service) ? null : (service['owner_team_id'] ?? null));
}
const isTerminal = ({ status }: Item, { statuses }: Context) =>
  statuses.find(({ key }) => key === status)?.is_terminal === true;

const elements =
  (property: string): Filter =>
  (items) =>
    distinct(items.flatMap((item) => item[property])).map((value) => [
      value,
      (item) => (item[property] as string[]).some((element) => fold(element) === fold(value.trim())),
    ]);

/** Values of fields: an operator and its opposite. */
const customFilter: Filter = (items, { fields }) =>
  fields
    .filter((field) => !isArchived(field))
    .flatMap(({ slug, field_type: type }) => {
      const valueOf = ({ custom_fields }: Item) => (custom_fields as Record<string, unknown>)[String(slug)];
      const values = items.map(valueOf).filter((value) => value !== undefined);
      const json = (operator: string, value: unknown) => JSON.stringify({ slug, operator, value });
      return values.slice(0, MOST).flatMap((value): [string, (item: Item) => boolean][] => {
        if (type === 'number') {
          const above = (item: Item) => valueOf(item) !== undefined && Number(valueOf(item)) > Number(value);
          return [
            [json('gt', value), above],
            [json('lte', value), (item) => valueOf(item) !== undefined && !above(item)],
          ];
        }
        if (typeof value !== 'string' || !['string', 'select'].includes(String(type)) || value.length > 100) return [];
        const same = (item: Item) => valueOf(item) !== undefined && fold(valueOf(item) as string) === fold(value);
        return [
          [json('is', value), same],
          [json('is_not', value), (item) => !same(item)],
        ];
      });
    });

/** Roles that somebody has, and that a user has. */
const holders: Filter = (items) => {
  const rolesOf = ({ roles }: Item) =>
    Object.entries(roles as Record<string, string[]>).flatMap(([key, ids]) => [
      key,
      ...ids.map((id) => `${key}:${id}`),
    ]);
  const users = /^[a-z]+(?::\d+)?$/;
  return distinct(items.flatMap(rolesOf).filter((role) => users.test(role))).map((role) => [
    role,
    (item) => rolesOf(item).includes(role),
  ]);
};

const incidentFilters: Filters = {
  scope: () => [
    ['all', () => true],
    ['postmortem', (item) => item['issue_type'] === 'postmortem'],
  ],
  status: (_, { statuses }) => statuses.map(({ key }) => [key, (item) => item['status'] === key]),
  severity: (_, { severities }) => severities.map(({ key }) => [key, (item) => item['severity'] === key]),
  q: search(
    anyOf(
      has('title'),
      has('impact_summary'),
      (item, part) => /\d$/.test(part) && fold(text(item, 'human_id')).startsWith(fold(part)),
    ),
    ...['title', 'impact_summary', 'human_id'],
  ),
  created_from: moment('created_at', 'from'),
  created_to: moment('created_at', 'to'),
  created_before: moment('created_at', 'before'),
  impact_started_from: moment('impact_started_at', 'from'),
  impact_started_to: moment('impact_started_at', 'to'),
  impact_started_before: moment('impact_started_at', 'before'),
  region: elements('regions'),
  role: holders,
  lifecycle: by('issue_type'),
  postmortem: (items) => [
    ['none', (item) => item['postmortem_state'] === null],
    ...distinct(items.map((item) => item['postmortem_state'])).map((state): [string, (item: Item) => boolean] => [
      state,
      (item) => item['postmortem_state'] === state,
    ]),
  ],
  service_tier: (_, context) =>
    context.tiers.map(({ key }) => [key, (item) => serviceOf(item, context)?.['tier'] === key]),
  effective_team_id: (_, context) =>
    context.teams.map(({ id }) => [String(id), (item) => effectiveTeam(item, context) === id]),
  unassigned_team: flag(({ team_id }) => team_id === null),
  active_only: flag((item, context) => !isTerminal(item, context)),
  update_due: flag(
    (item, context) => Date.parse(String(item['next_update_at'])) <= Date.now() && !isTerminal(item, context),
    'others',
  ),
  status_scope: (_, context) => [
    ['all', () => true],
    ['nonterminal', (item) => !isTerminal(item, context)],
    ...context.statuses.map(({ key }): [string, (item: Item) => boolean] => [key, (item) => item['status'] === key]),
  ],
  impact_status: by('customer_impact_status'),
  custom_filter: customFilter,
};

const folded = (value: unknown): Key => (typeof value === 'string' && value !== '' ? fold(value) : null);
const place = (all: readonly { key: string }[], key: unknown) => all.findIndex((each) => each.key === key);

const incidentSorts: Sorts = {
  created_at: (item) => text(item, 'created_at'),
  last_event_at: (item) => item['last_event_at'] as Key,
  impact_started_at: (item) => item['impact_started_at'] as Key,
  severity: ({ severity }, { severities }) => -place(severities, severity),
  status: ({ status }, { statuses }) => place(statuses, status),
  service: ({ service }) => folded(service),
  regions: ({ regions }) => folded((regions as string[])[0]),
  team: (item, context) => folded(context.teams.find(({ id }) => id === effectiveTeam(item, context))?.['name']),
  owner: ({ incident_manager }) => folded(incident_manager),
  events: ({ event_count }) => Number(event_count),
  case: ({ human_id }) => Number(String(human_id).slice('INC-'.length)),
  // Both are known only from other systems.
  diagnosis: () => 0,
  impact: () => null,
};
const inBothDirections = (sorts: Sorts) =>
  Object.fromEntries(
    Object.entries(sorts).flatMap(([sort, key]) =>
      ['asc', 'desc'].map((direction) => [`sort=${sort}&direction=${direction}`, key]),
    ),
  );

/** Of follow-ups. */
const ofIncident =
  (property: string): Filter =>
  (_, { incidents }) =>
    distinct(incidents.map((incident) => incident[property])).map((value) => [
      value,
      ({ incident_id: id }) => incidents.some((incident) => incident.id === id && String(incident[property]) === value),
    ]);

interface Change {
  field: string;
  from: unknown;
}
const isOfNewEvents = (changes: readonly Change[]) =>
  changes.length > 0 && changes.every(({ field, from }) => from === null && /^timeline_events\.\d+$/.test(field));

const keyOf = ({ api_key: key }: Item) => (key as Item).id;

/** What the parameters of lists mean if it is not the default, by their operations. */
const RULES: Readonly<Record<string, Rules>> = {
  listUsers: {
    filters: {
      active: flag(({ active }) => active === true, 'others'),
      q: search(anyOf(has('name'), has('email')), 'name', 'email'),
    },
  },
  listTeams: { sorts: { '': ({ name }) => lower(name) } },
  listServices: {
    sorts: { '': ({ tier, name }, { tiers }) => [place(tiers, tier), lower(name)] },
    filters: { q: search(anyOf(has('name', lower), has('slug', lower)), 'name', 'slug') },
  },
  listAlertNotifications: {
    sorts: { '': ({ id }) => -id },
    filters: {
      key_id: (items) => distinct(items.map(keyOf)).map((value) => [value, (item) => String(keyOf(item)) === value]),
      received_from: moment('received_at', 'from'),
      received_to: moment('received_at', 'before'),
    },
  },
  listCustomFields: { sorts: { '': ({ sort_order }) => Number(sort_order) } },
  listIncidents: { sorts: inBothDirections(incidentSorts), filters: incidentFilters },
  listArchivedIncidents: {
    sorts: { 'direction=asc': ({ archived_at }) => String(archived_at) },
    filters: incidentFilters,
  },
  listTimelineEvents: {
    sorts: {
      'order=asc': ({ started_at }) => String(started_at),
      'order=desc': ({ started_at }) => String(started_at),
    },
    filters: {
      started_from: moment('started_at', 'from'),
      started_to: moment('started_at', 'before'),
      key_only: flag(({ is_key }) => is_key === true),
      group: (items) => [['ungrouped', ({ group_id }) => group_id === null], ...by('group_id')(items, {} as Context)],
      tag: elements('tags'),
      type_or_source: by('type'),
      suggestions: () => [
        ['include', () => true],
        ['exclude', ({ type }) => type !== 'ai_suggested'],
        ['only', ({ type }) => type === 'ai_suggested'],
      ],
      q: search(
        anyOf(has('title'), has('body'), ({ tags }, part) => fold((tags as string[]).join(' ')).includes(fold(part))),
        ...['title', 'body'],
      ),
    },
  },
  listIncidentChangelog: {
    sorts: { 'order=asc': ({ id }) => id, 'order=desc': ({ id }) => id },
    filters: {
      new_events: () => [
        ['true', () => true],
        ['false', ({ changes }) => !isOfNewEvents(changes as Change[])],
      ],
    },
  },
  listFollowUps: {
    sorts: { '': ({ due_on }) => due_on as Key },
    filters: {
      due_before: moment('due_on', 'before'),
      service: ofIncident('service'),
      team_id: ofIncident('team_id'),
      q: search(anyOf(has('title'), has('description')), 'title', 'description'),
    },
  },
  listWebhookDeliveries: { sorts: { '': ({ id }) => -id } },
  listAuditLog: {
    sorts: { '': ({ id, occurred_at }) => [-Date.parse(String(occurred_at)), -id] },
    filters: {
      actor: (items) =>
        distinct(items.map(({ actor }) => actorOf(actor))).map((value) => [
          value,
          ({ actor }) => actorOf(actor) === value,
        ]),
      occurred_from: moment('occurred_at', 'from'),
      occurred_to: moment('occurred_at', 'before'),
    },
  },
};

/** All lists that have pages, by their operations. @param ids one that exists, by the path in front of it */
export function listsOf(ids: ReadonlyMap<string, string | number>): Readonly<Record<string, List>> {
  const paged = Object.entries(OPERATIONS).filter(
    ([, { method, parameters }]) => method === 'GET' && isPaged(parameters),
  );
  const unknown = Object.entries(RULES).flatMap(([id, { filters = {} }]) =>
    Object.keys(filters).filter((name) => OPERATIONS[id]?.parameters.includes(name) !== true),
  );
  if (unknown.length > 0) throw new Error(`no list has the parameters ${unknown.join()}`);
  return Object.fromEntries(
    paged.map(([id, { path, reply, parameters }]) => {
      const [home = ''] = path.split('{');
      const includesArchived = parameters.includes('include_archived');
      const filters = parameters.filter((name) => !NO_FILTERS.test(name) && ELSEWHERE[name] === undefined);
      const rules = RULES[id];
      return [
        id,
        {
          path: path.replace(/\{\w+\}/, String(ids.get(home))) + (includesArchived ? '?include_archived=true' : ''),
          name: reply?.name ?? '',
          filters: Object.fromEntries(
            filters.map((name) => [
              name,
              rules?.filters?.[name] ?? (name === 'include_archived' ? archived : by(name)),
            ]),
          ),
          sorts: rules?.sorts ?? { '': undefined },
        },
      ];
    }),
  );
}

const actorOf = (actor: unknown) => String((actor as { user_id?: number }).user_id ?? 'operator');

/** Parameters of lists that select no elements. */
export const NO_FILTERS =
  /^(?:limit|cursor|sort|direction|sort_custom_field|order|include_counts|bucket|wait|after|Last-Event-ID|validate_only|id|key|operation)$/;

/** Filters that other suites check, with the reason. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  mine: 'an API key has no incidents of its own',
  duplicate: 'no incident shows it: relations.api.test.ts',
  user_id: 'says whose memberships are read instead of those of the caller: members.api.test.ts',
  diagnosis: 'known from messages of other systems: list-model.api.test.ts',
  affected_customers_op: 'known from messages of other systems: list-model.api.test.ts',
  affected_customers_value: 'known from messages of other systems: list-model.api.test.ts',
  mrr_op: 'known from messages of other systems: list-model.api.test.ts',
  mrr_value: 'known from messages of other systems: list-model.api.test.ts',
  mrr_currency: 'known from messages of other systems: list-model.api.test.ts',
  mrr_basis: 'known from messages of other systems: list-model.api.test.ts',
};

/** In the order of code points; missing values last. */
export function compareKeys(one: Key | readonly Key[], other: Key | readonly Key[]): number {
  const [left, right] = [[one].flat(), [other].flat()];
  for (const [index, key] of left.entries()) {
    const compared = right[index];
    if (key === compared) continue;
    if (key === null || key === undefined) return Infinity;
    if (compared === null || compared === undefined) return -Infinity;
    return typeof key === 'number'
      ? key - Number(compared)
      : Buffer.compare(Buffer.from(key), Buffer.from(String(compared)));
  }
  return 0;
}
