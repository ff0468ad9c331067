import { ConnectionError } from '@tocsin/sdk';
import pg from 'pg';
import { UsageError } from '../../operation-parameters.ts';
import { dispatchFacts } from '../facts/dispatch.ts';
import {
  type ConnectOptions,
  type Connection,
  type Draft,
  type Entry,
  fieldsOf,
  type Person,
  type Read,
  type Source,
  textEntry,
  textOf,
} from '../source.ts';

/** A statement that returns one JSON value. */
interface Statement {
  text: string;
  values?: readonly unknown[];
}

/** Rows as PostgreSQL makes JSON of them, so that columns of other versions of Dispatch are optional. */
interface Contact {
  name?: string | null;
  email?: string | null;
}
interface Incident {
  id: number;
  name?: string | null;
  title?: string | null;
  description?: string | null;
  resolution?: string | null;
  summary?: string | null;
  status: string;
  visibility?: string | null;
  created_at?: string | null;
  reported_at?: string | null;
  stable_at?: string | null;
  closed_at?: string | null;
  commander_id?: number | null;
  reporter_id?: number | null;
  duplicate_id?: number | null;
  incident_priority?: string | null;
  incident_severity?: string | null;
  incident_type?: string | null;
  project?: string | null;
}
interface Participant {
  id: number;
  individual?: Contact | null;
  roles?: readonly string[] | null;
}
interface Rest {
  participants?: readonly Participant[] | null;
  tags?: readonly { name?: string | null; type?: string | null }[] | null;
  documents?: readonly { resource_type?: string | null; weblink?: string | null }[] | null;
  reports?: readonly Report[] | null;
  ticket?: string | null;
  conference?: string | null;
  conversation?: string | null;
  tasks?: number | null;
  costs?: number | null;
}
interface Report {
  id: number;
  created_at: string;
  type?: string | null;
  details?: unknown;
  details_raw?: string | null;
  participant_id?: number | null;
}
interface Event {
  id: number;
  uuid: string;
  started_at: string;
  ended_at?: string | null;
  source?: string | null;
  description?: string | null;
  details?: unknown;
  type?: string | null;
  owner?: string | null;
  pinned?: boolean | null;
  individual?: Contact | null;
}

const INCIDENTS = 200;
const EVENTS = 1_000;
/** Milliseconds. */
const STATEMENT_TIMEOUT = 60_000;

const INCIDENT_PAGE = `
  select coalesce(jsonb_agg(page.row order by page.id), '[]') as answer from (
    select i.id, (to_jsonb(i) - 'search_vector') || jsonb_build_object(
      'incident_priority', p.name, 'incident_severity', s.name, 'incident_type', t.name, 'project', r.name) as row
    from incident i
    left join incident_priority p on p.id = i.incident_priority_id
    left join incident_severity s on s.id = i.incident_severity_id
    left join incident_type t on t.id = i.incident_type_id
    left join project r on r.id = i.project_id
    where i.id > $1 order by i.id limit ${INCIDENTS}) page`;

const REST = `
  select jsonb_build_object(
    'participants', (select jsonb_agg(jsonb_build_object('id', p.id,
        'individual', jsonb_build_object('name', c.name, 'email', c.email),
        'roles', (select jsonb_agg(r.role order by r.id) from participant_role r where r.participant_id = p.id)) order by p.id)
      from participant p left join individual_contact c on c.id = p.individual_contact_id where p.incident_id = $1),
    'tags', (select jsonb_agg(jsonb_build_object('name', t.name, 'type', y.name) order by t.id) from assoc_incident_tags a
      join tag t on t.id = a.tag_id left join tag_type y on y.id = t.tag_type_id where a.incident_id = $1),
    'documents', (select jsonb_agg(jsonb_build_object('resource_type', d.resource_type, 'weblink', d.weblink) order by d.id)
      from document d where d.incident_id = $1),
    'reports', (select jsonb_agg(to_jsonb(r) - 'search_vector' order by r.id) from report r where r.incident_id = $1),
    'ticket', (select t.weblink from ticket t where t.incident_id = $1 order by t.id limit 1),
    'conference', (select c.weblink from conference c where c.incident_id = $1 order by c.id limit 1),
    'conversation', (select c.weblink from conversation c where c.incident_id = $1 order by c.id limit 1),
    'tasks', (select count(1) from task t where t.incident_id = $1),
    'costs', (select sum(c.amount) from incident_cost c where c.incident_id = $1)) as answer`;

const EVENT_PAGE = `
  select coalesce(jsonb_agg(page.row order by page.id), '[]') as answer from (
    select e.id, (to_jsonb(e) - 'search_vector') || jsonb_build_object(
      'individual', jsonb_build_object('name', c.name, 'email', c.email)) as row
    from event e left join individual_contact c on c.id = e.individual_id
    where e.incident_id = $1 and e.id > $2 order by e.id limit ${EVENTS}) page`;

export const dispatch: Source<Statement> = {
  name: 'dispatch',
  title: 'Dispatch',
  variable: 'DISPATCH_DATABASE_URL',
  facts: dispatchFacts,
  statuses: { Active: 'active', Stable: 'monitoring', Closed: 'closed' },
  severities: { Critical: 'sev1', High: 'sev2', Medium: 'sev3', Low: 'sev4' },
  connect,
  async *open(read) {
    for (let after = 0; ;) {
      const page = (await read(`list/${after}`, { text: INCIDENT_PAGE, values: [after] })) as Incident[];
      for (const incident of page) yield async () => readDraft(read, incident);
      if (page.length < INCIDENTS) return;
      after = page.at(-1)?.id ?? after;
    }
  },
};

/** Opens a transaction that can only read, and sees one moment. @throws UsageError */
async function connect({ env, organization }: ConnectOptions): Promise<Connection<Statement>> {
  const address = env[dispatch.variable] ?? '';
  if (!/^postgres(?:ql)?:\/\//.test(address) || !URL.canParse(address))
    throw new UsageError(`${dispatch.variable} must have the address of a PostgreSQL database`);
  if (!/^\w{1,63}$/.test(organization)) throw new UsageError(`--organization: ${organization} is no slug`);
  const url = new URL(address);
  // So that `sslmode` means what it means to `psql`.
  url.searchParams.set('uselibpqcompat', 'true');
  const client = new pg.Client({
    connectionString: url.href,
    statement_timeout: STATEMENT_TIMEOUT,
    connectionTimeoutMillis: 10_000,
  });
  // A broken connection is reported by the next statement.
  client.on('error', () => undefined);
  await client.connect().catch((cause: unknown) => {
    const { code, message } = cause as { code?: string; message: string };
    throw new ConnectionError('connection_lost', `cannot reach the database (${code ?? message})`, { cause });
  });
  await client.query('begin isolation level repeatable read, read only');
  await client.query(`set local search_path to "dispatch_organization_${organization}"`);
  // A connection answers one statement after the other.
  let last: Promise<unknown> = Promise.resolve();
  const run = async ({ text, values = [] }: Statement) => {
    const { rows } = await client.query<{ answer: unknown }>(text, [...values]);
    return rows[0]?.answer;
  };
  return {
    ask: async (statement) => {
      const answer = last.then(async () => run(statement));
      last = answer.catch(() => undefined);
      return answer;
    },
    address: `${client.host}:${client.port}/${client.database ?? ''}`,
    close: async () => client.end(),
  };
}

async function readDraft(read: Read<Statement>, incident: Incident): Promise<Draft> {
  const { id } = incident;
  const details = (await read(`incidents/${id}/rest`, { text: REST, values: [id] })) as Rest;
  const events: Event[] = [];
  for (let after = 0; ;) {
    const statement = { text: EVENT_PAGE, values: [id, after] };
    const page = (await read(`incidents/${id}/events-${after}`, statement)) as Event[];
    for (const event of page) events.push(event);
    if (page.length < EVENTS) break;
    after = page.at(-1)?.id ?? after;
  }
  return toDraft(incident, { details, events });
}

/** Times are UTC without a zone. */
const utc = (text: string | null | undefined) => (text === null || text === undefined ? undefined : `${text}Z`);

function personOf(contact: Contact | null | undefined): Person | undefined {
  const { name, email } = contact ?? {};
  const text = textOf(name) || textOf(email);
  return text === '' ? undefined : { name: text, email: email ?? undefined };
}

function toDraft(incident: Incident, { details, events }: { details: Rest; events: readonly Event[] }): Draft {
  const participants = details.participants ?? [];
  const participant = (id: number | null | undefined) =>
    personOf(participants.find((one) => one.id === id)?.individual);
  const { status, stable_at: stable, closed_at: closed, visibility, description, resolution, summary } = incident;
  const createdAt = utc(incident.reported_at ?? incident.created_at) ?? '';
  const documents = details.documents ?? [];
  const endedAt = utc(closed ?? stable) ?? createdAt;
  return {
    id: String(incident.id),
    url: details.ticket ?? undefined,
    meetUrl: details.conference ?? undefined,
    docUrl: documents.find(({ resource_type: type }) => type === 'dispatch-incident-document')?.weblink ?? undefined,
    title: textOf(incident.title),
    status,
    severity: textOf(incident.incident_severity),
    createdAt,
    statusChangedAt: utc(status === 'Closed' ? closed : status === 'Stable' ? stable : null),
    author: participant(incident.reporter_id),
    manager: participant(incident.commander_id),
    responders: participants
      .filter(({ roles }) => roles?.some((role) => !['Observer', 'Reporter'].includes(role)) === true)
      .flatMap(({ individual }) => personOf(individual) ?? []),
    moments: { first_reported_at: createdAt, recovered_at: utc(stable) },
    fields: fieldsOf(
      {
        name: incident.name,
        priority: incident.incident_priority,
        incident_type: incident.incident_type,
        project: incident.project,
        // Everybody in a workspace sees all of its incidents.
        visibility: visibility === 'Open' ? undefined : visibility,
        duplicate_of: incident.duplicate_id,
        conversation: details.conversation,
        documents: documents.flatMap(({ weblink }) => weblink ?? []),
        tasks: details.tasks,
        costs: details.costs,
      },
      'tags',
      tagsByType(details.tags ?? []),
    ),
    entries: [
      ...textEntry('description', description, createdAt),
      ...textEntry('resolution', resolution, endedAt),
      ...textEntry('summary', summary, endedAt),
      ...(details.reports ?? []).map((report) => reportOf(report, participant(report.participant_id))),
      ...events.map(eventOf),
    ],
  };
}

const tagsByType = (tags: NonNullable<Rest['tags']>): [string, string[]][] =>
  [...Map.groupBy(tags, ({ type }) => textOf(type) || 'tags')].map(([type, of]) => [
    type,
    of.map(({ name }) => textOf(name)),
  ]);

const isEmpty = (details: unknown) => details === null || details === undefined || JSON.stringify(details) === '{}';
const withDetails = (text: string, details: unknown) =>
  isEmpty(details) ? text : `${text}\n${typeof details === 'string' ? details : JSON.stringify(details)}`;

const eventOf = (event: Event): Entry => ({
  id: event.uuid,
  type: textOf(event.type).toLowerCase().replaceAll(' ', '_') || 'other',
  body: withDetails(textOf(event.description), event.details),
  at: utc(event.started_at) ?? '',
  until: utc(event.ended_at),
  author: personOf(event.individual) ?? personOf({ name: textOf(event.owner) || textOf(event.source) }),
  isKey: event.pinned === true,
  origin: textOf(event.source),
});

const reportOf = (report: Report, author: Person | undefined): Entry => ({
  id: `report:${report.id}`,
  type: textOf(report.type).toLowerCase().replaceAll(' ', '_') || 'report',
  body: withDetails(textOf(report.details_raw), report.details),
  at: utc(report.created_at) ?? '',
  author,
});
