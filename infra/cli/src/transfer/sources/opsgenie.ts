import { opsgenieFacts } from '../facts/opsgenie.ts';
import { connectHttp, type HttpQuestion } from '../http.ts';
import {
  type Draft,
  type Entry,
  fieldsOf,
  linesOf,
  type Person,
  type Range,
  type Read,
  type Source,
  textEntry,
  textOf,
} from '../source.ts';
import { readChain, readWindow } from '../windows.ts';

interface Incident {
  id: string;
  tinyId?: string;
  message?: string;
  description?: string;
  status: string;
  tags?: readonly string[];
  createdAt: string;
  updatedAt?: string;
  priority?: string;
  ownerTeam?: string;
  responders?: readonly { type: string; id: string }[];
  extraProperties?: Readonly<Record<string, unknown>>;
  links?: { web?: string };
  impactedServices?: readonly string[];
  impactStartDate?: string;
  impactDetectDate?: string;
  impactEndDate?: string;
  actions?: readonly string[];
}
/** Logs and notes have no ID, but a place in their list. */
interface Log {
  log?: string;
  note?: string;
  type?: string;
  owner?: string;
  createdAt: string;
  offset: string;
}
interface TimelineEntry {
  id: string;
  group?: string;
  type?: string;
  eventTime: string;
  hidden?: boolean;
  actor?: { name?: string; type?: string };
  title?: { content?: string };
  description?: { content?: string };
}
interface Named {
  id: string;
  name?: string;
}
interface User {
  id: string;
  username: string;
  fullName?: string;
}
interface Lists {
  users: readonly User[];
  teams: ReadonlyMap<string, string>;
  services: ReadonlyMap<string, string>;
}
interface ListAnswer<Row> {
  data: readonly Row[];
  paging?: { next?: string };
  totalCount?: number;
}
interface TimelineAnswer {
  data: { entries: readonly TimelineEntry[]; nextOffset?: string };
}

const LIMIT = 100;
/** The API refuses a larger sum of offset and limit, and larger pages of a timeline. */
const REACH = 20_000;
const TIMELINE_LIMIT = 20;

export const opsgenie: Source<HttpQuestion> = {
  name: 'opsgenie',
  title: 'Opsgenie',
  variable: 'OPSGENIE_API_KEY',
  facts: opsgenieFacts,
  statuses: { open: 'open', resolved: 'resolved', closed: 'closed' },
  severities: { P1: 'sev1', P2: 'sev2', P3: 'sev3', P4: 'sev4' },
  connect: async (options) =>
    connectHttp(options, {
      variable: opsgenie.variable,
      address: 'https://api.opsgenie.com',
      headersOf: (key) => ({ Authorization: `GenieKey ${key}` }),
    }),
  async *open(read, range) {
    const teams = (await read('teams', { path: '/v2/teams' })) as ListAnswer<Named>;
    const lists = {
      users: await readAll<User>(read, { name: 'users', path: '/v2/users' }),
      teams: namesOf(teams.data),
      services: namesOf(await readAll<Named>(read, { name: 'services', path: '/v1/services' })),
    };
    const seen = new Set<string>();
    for await (const incident of readIncidents(read, range)) {
      if (seen.has(incident.id)) continue;
      seen.add(incident.id);
      yield async () => readDraft(read, incident, lists);
    }
  },
};

const namesOf = (rows: readonly Named[]) => new Map(rows.map(({ id, name = id }) => [id, name]));

async function readAll<Row>(read: Read<HttpQuestion>, { name, path }: { name: string; path: string }): Promise<Row[]> {
  const all: Row[] = [];
  for (let offset = 0; offset + LIMIT <= REACH; offset += LIMIT) {
    const answer = await read(`${name}/${offset}`, { path, query: { limit: LIMIT, offset } });
    const { data, paging } = answer as ListAnswer<Row>;
    for (const row of data) all.push(row);
    if (paging?.next === undefined) break;
  }
  return all;
}

const readIncidents = (read: Read<HttpQuestion>, range: Range) =>
  readWindow<Incident>({
    ...range,
    ...{ limit: LIMIT, reach: REACH, idOf: ({ id }) => id },
    load: async ({ since, until, offset, attempt }) => {
      const search = `createdAt >= ${since} AND createdAt < ${until}`;
      const query = { query: search, sort: 'createdAt', order: 'asc', limit: LIMIT, offset };
      const answer = await read(`list/${since}-${until}-${attempt}-${offset}`, { path: '/v1/incidents', query });
      const { data, paging, totalCount } = answer as ListAnswer<Incident>;
      return { rows: data, more: paging?.next !== undefined, total: totalCount };
    },
  });

async function readDraft(read: Read<HttpQuestion>, incident: Incident, lists: Lists): Promise<Draft> {
  const path = encodeURIComponent(incident.id);
  const chain = async (name: string): Promise<Log[]> => {
    const load = async (cursor: string | undefined, page: number) => {
      const query = { limit: LIMIT, order: 'asc', ...(cursor !== undefined && { offset: cursor, direction: 'next' }) };
      const question = { path: `/v1/incidents/${path}/${name}`, query, mayBeMissing: true };
      const answer = (await read(`incidents/${incident.id}/${name}-${page}`, question)) as ListAnswer<Log> | null;
      const next = answer?.paging?.next;
      // Only the place is taken from it: the key is for one address.
      const offset = next === undefined ? null : new URL(next, 'https://api.opsgenie.com').searchParams.get('offset');
      return { rows: answer?.data ?? [], next: offset ?? undefined };
    };
    return Array.fromAsync(readChain(load));
  };
  const notes = await chain('notes');
  const logs = await chain('logs');
  const load = async (cursor: string | undefined, page: number) => {
    const query = { limit: TIMELINE_LIMIT, order: 'asc', ...(cursor !== undefined && { offset: cursor }) };
    const question = { path: `/v2/incident-timelines/${path}/entries`, query, mayBeMissing: true };
    const answer = (await read(`incidents/${incident.id}/timeline-${page}`, question)) as TimelineAnswer | null;
    return { rows: answer?.data.entries ?? [], next: answer?.data.nextOffset };
  };
  return toDraft(incident, { lists, notes, logs, timeline: await Array.fromAsync(readChain(load)) });
}

interface Rest {
  lists: Lists;
  notes: readonly Log[];
  logs: readonly Log[];
  timeline: readonly TimelineEntry[];
}

function toDraft(incident: Incident, { lists, notes, logs, timeline }: Rest): Draft {
  const users = new Map(lists.users.flatMap((user) => [user.id, user.username].map((key) => [key, user] as const)));
  /** @param key an ID or a user name, which is an address, or the name of an integration */
  const personOf = (key: string | undefined): Person | undefined => {
    if (key === undefined || key === '') return undefined;
    const user = users.get(key);
    const email = user?.username ?? (key.includes('@') ? key : undefined);
    return { name: user?.fullName ?? key, email };
  };
  const { responders = [], ownerTeam, impactEndDate, status } = incident;
  const [service, ...services] = (incident.impactedServices ?? []).map((id) => lists.services.get(id) ?? id);
  const first = logs.toSorted((one, other) => one.createdAt.localeCompare(other.createdAt))[0];
  const of = (type: string) => responders.filter((responder) => responder.type === type);
  return {
    id: incident.id,
    url: incident.links?.web,
    title: textOf(incident.message),
    status,
    severity: textOf(incident.priority),
    createdAt: incident.createdAt,
    // The API has no time of the last change of the status.
    statusChangedAt: status === 'open' ? undefined : (impactEndDate ?? incident.updatedAt),
    author: personOf(first?.owner),
    responders: of('user').flatMap(({ id }) => personOf(id) ?? []),
    team: ownerTeam === undefined || ownerTeam === '' ? undefined : (lists.teams.get(ownerTeam) ?? ownerTeam),
    service,
    moments: {
      impact_started_at: incident.impactStartDate,
      first_reported_at: incident.impactDetectDate,
      recovered_at: impactEndDate,
    },
    fields: fieldsOf(
      {
        tiny_id: incident.tinyId,
        tags: incident.tags,
        actions: incident.actions,
        further_services: services,
        responder_teams: of('team').map(({ id }) => lists.teams.get(id) ?? id),
      },
      'extraProperties',
      Object.entries(incident.extraProperties ?? {}),
    ),
    entries: [
      ...textEntry('description', incident.description, incident.createdAt),
      ...logs.map((log) => logOf('log', log, personOf)),
      ...notes.map((note) => logOf('note', note, personOf)),
      ...timeline.map((entry) => entryOf(entry, personOf)),
    ],
  };
}

const logOf = (kind: 'log' | 'note', row: Log, personOf: (key?: string) => Person | undefined): Entry => ({
  id: `${kind}:${row.offset}`,
  type: kind === 'note' ? 'note' : textOf(row.type) || 'log',
  body: textOf(kind === 'note' ? row.note : row.log),
  at: row.createdAt,
  author: personOf(row.owner),
});

const entryOf = (entry: TimelineEntry, personOf: (key?: string) => Person | undefined): Entry => ({
  id: entry.id,
  type: textOf(entry.type) || 'entry',
  body: linesOf([entry.title?.content, entry.description?.content]),
  at: entry.eventTime,
  author: personOf(entry.actor?.name),
  tags: [textOf(entry.group), entry.hidden === true ? 'hidden' : ''].filter((tag) => tag !== ''),
});
