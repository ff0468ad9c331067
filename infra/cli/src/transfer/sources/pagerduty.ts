import { pagerdutyFacts } from '../facts/pagerduty.ts';
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
  textOf,
} from '../source.ts';
import { iso, readWindow } from '../windows.ts';

/** As its API shows them (version 2); what it does not need to have is optional. */
interface Reference {
  id?: string | null;
  type?: string;
  summary?: string | null;
  html_url?: string | null;
}
interface Incident extends Reference {
  id: string;
  incident_number?: number;
  title?: string;
  status: string;
  created_at: string;
  resolved_at?: string | null;
  last_status_change_at?: string;
  incident_key?: string | null;
  urgency?: string;
  priority?: Reference | null;
  service?: Reference | null;
  escalation_policy?: Reference | null;
  teams?: readonly Reference[];
  assignments?: readonly { assignee?: Reference }[];
  incidents_responders?: readonly { user?: Reference }[];
  incident_type?: { name?: string } | null;
  resolve_reason?: { type?: string } | null;
  conference_bridge?: { conference_number?: string | null; conference_url?: string | null } | null;
  alert_counts?: { all?: number };
}
interface LogEntry extends Reference {
  id: string;
  type: string;
  created_at: string;
  agent?: Reference | null;
  note?: string | null;
  event_details?: { description?: string } | null;
  changeset?: readonly string[] | null;
}
interface Note {
  id: string;
  user?: Reference | null;
  content?: string;
  created_at: string;
}
interface FieldValue {
  name: string;
  value?: unknown;
}
interface User {
  id: string;
  name?: string;
  email?: string;
}

const LIMIT = 100;
/** The API refuses a larger sum of offset and limit, and a range of more than six months. */
const REACH = 10_000;
const LONGEST_RANGE = 180 * 86_400_000;

export const pagerduty: Source<HttpQuestion> = {
  name: 'pagerduty',
  title: 'PagerDuty',
  variable: 'PAGERDUTY_TOKEN',
  facts: pagerdutyFacts,
  statuses: { triggered: 'open', acknowledged: 'active', resolved: 'resolved' },
  severities: { P1: 'sev1', P2: 'sev2', P3: 'sev3', P4: 'sev4' },
  connect: async (options) =>
    connectHttp(options, {
      variable: pagerduty.variable,
      address: 'https://api.pagerduty.com',
      headersOf: (token) => ({
        Accept: 'application/vnd.pagerduty+json;version=2',
        Authorization: `Token token=${token}`,
      }),
    }),
  async *open(read, range) {
    const users = await readUsers(read);
    const seen = new Set<string>();
    for (let since = range.since; since < range.until; since += LONGEST_RANGE) {
      const until = Math.min(range.until, since + LONGEST_RANGE);
      for await (const incident of readIncidents(read, { since, until })) {
        if (seen.has(incident.id)) continue;
        seen.add(incident.id);
        yield async () => readDraft(read, { incident, users, range });
      }
    }
  },
};

/** Those who were deleted are not among them. */
async function readUsers(read: Read<HttpQuestion>): Promise<Map<string, User>> {
  const users = new Map<string, User>();
  for (let offset = 0; ; offset += LIMIT) {
    const question = { path: '/users', query: { limit: LIMIT, offset } };
    const page = (await read(`users/${offset}`, question)) as { users: readonly User[]; more?: boolean };
    for (const user of page.users) users.set(user.id, user);
    if (page.more !== true || offset + 2 * LIMIT > REACH) return users;
  }
}

const readIncidents = (read: Read<HttpQuestion>, window: Range) =>
  readWindow<Incident>({
    ...window,
    ...{ limit: LIMIT, reach: REACH, idOf: ({ id }) => id },
    load: async ({ since, until, offset, attempt }) => {
      const dates = { since: iso(since), until: iso(until), time_zone: 'UTC', sort_by: 'created_at:asc' };
      const query = { ...dates, limit: LIMIT, offset, total: 'true' };
      const answer = await read(`list/${since}-${until}-${attempt}-${offset}`, { path: '/incidents', query });
      const page = answer as { incidents: readonly Incident[]; more: boolean; total?: number | null };
      return { rows: page.incidents, more: page.more, total: page.total ?? undefined };
    },
  });

const readEntries = (read: Read<HttpQuestion>, id: string, range: Range) =>
  readWindow<LogEntry>({
    ...range,
    ...{ limit: LIMIT, reach: REACH, idOf: (entry) => entry.id },
    load: async ({ since, until, offset, attempt }) => {
      const query = { since: iso(since), until: iso(until), time_zone: 'UTC', limit: LIMIT, offset };
      const path = `/incidents/${encodeURIComponent(id)}/log_entries`;
      const file = `incidents/${id}/log-${since}-${until}-${attempt}-${offset}`;
      const answer = await read(file, { path, query, mayBeMissing: true });
      const page = (answer ?? { log_entries: [] }) as { log_entries: readonly LogEntry[]; more?: boolean };
      return { rows: page.log_entries, more: page.more === true };
    },
  });

async function readDraft(
  read: Read<HttpQuestion>,
  { incident, users, range }: { incident: Incident; users: ReadonlyMap<string, User>; range: Range },
): Promise<Draft> {
  const { id } = incident;
  const path = `/incidents/${encodeURIComponent(id)}`;
  const ask = async (name: string, end: string) =>
    read(`incidents/${id}/${name}`, { path: `${path}/${end}`, mayBeMissing: true });
  const { notes } = ((await ask('notes', 'notes')) ?? { notes: [] }) as { notes: readonly Note[] };
  const values = ((await ask('fields', 'custom_fields/values')) ?? {}) as { custom_fields?: readonly FieldValue[] };
  const log = await Array.fromAsync(readEntries(read, id, range));
  return toDraft(incident, { users, notes, log, values: values.custom_fields ?? [] });
}

interface Rest {
  users: ReadonlyMap<string, User>;
  notes: readonly Note[];
  log: readonly LogEntry[];
  values: readonly FieldValue[];
}

function toDraft(incident: Incident, { users, notes, log, values }: Rest): Draft {
  const personOf = (reference: Reference | null | undefined): Person | undefined => {
    const user = users.get(reference?.id ?? '');
    const name = user?.name ?? reference?.summary ?? reference?.id;
    return name === null || name === undefined ? undefined : { name, email: user?.email };
  };
  const inOrder = log.toSorted((one, other) => one.created_at.localeCompare(other.created_at));
  const first = (type: string) => inOrder.find((entry) => entry.type === `${type}_log_entry`);
  const isPerson = (reference: Reference | null | undefined) => reference?.type?.startsWith('user') === true;
  const acted = inOrder.flatMap(({ type, agent }) => (/^(?:ack|resolve)/.test(type) && isPerson(agent) ? [agent] : []));
  const [team, ...teams] = (incident.teams ?? []).map(({ summary }) => textOf(summary));
  const { conference_bridge: bridge } = incident;
  return {
    id: incident.id,
    url: incident.html_url ?? undefined,
    meetUrl: bridge?.conference_url ?? undefined,
    title: textOf(incident.title),
    status: incident.status,
    severity: textOf(incident.priority?.summary),
    createdAt: incident.created_at,
    statusChangedAt: incident.last_status_change_at,
    author: personOf(first('trigger')?.agent),
    responders: [
      ...(incident.assignments ?? []).map(({ assignee }) => assignee),
      ...(incident.incidents_responders ?? []).map(({ user }) => user),
      ...acted,
    ].flatMap((reference) => personOf(reference) ?? []),
    team,
    service: textOf(incident.service?.summary),
    moments: { first_responded_at: first('acknowledge')?.created_at, recovered_at: incident.resolved_at ?? undefined },
    fields: fieldsOf(
      {
        number: incident.incident_number,
        urgency: incident.urgency,
        incident_key: incident.incident_key,
        escalation_policy: incident.escalation_policy?.summary,
        incident_type: incident.incident_type?.name,
        resolve_reason: incident.resolve_reason?.type,
        conference_number: bridge?.conference_number,
        further_teams: teams,
        alerts: incident.alert_counts?.all,
      },
      'custom_fields',
      values.map(({ name, value }) => [name, value] as const),
    ),
    entries: [...log.map((entry) => entryOf(entry, personOf)), ...notes.map((note) => noteOf(note, personOf))],
  };
}

type PersonOf = (reference: Reference | null | undefined) => Person | undefined;

const entryOf = (entry: LogEntry, personOf: PersonOf): Entry => ({
  id: entry.id,
  type: entry.type.replace(/_log_entry$/, ''),
  body: linesOf([entry.summary, entry.note, entry.event_details?.description, ...(entry.changeset ?? [])]),
  at: entry.created_at,
  author: personOf(entry.agent),
  origin: textOf(entry.html_url),
});

const noteOf = (note: Note, personOf: PersonOf): Entry => ({
  id: `note:${note.id}`,
  type: 'note',
  body: textOf(note.content),
  at: note.created_at,
  author: personOf(note.user),
});
