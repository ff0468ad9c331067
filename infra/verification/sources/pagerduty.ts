import { type Happening, OWN_VALUES, type Past, PEOPLE, type Person } from './data.ts';
import { type FakeAnswer, type FakeApi, startFakeApi } from './fake-api.ts';

/** The documented bounds of the list of incidents. */
const LONGEST_RANGE = 184 * 86_400_000;
const REACH = 10_000;
const TOKEN = 'u+fake-token';
export const PAGERDUTY_ENV = { PAGERDUTY_TOKEN: TOKEN };

const LOG_TYPES = { begin: 'trigger', acknowledge: 'acknowledge', work: 'annotate', end: 'resolve' } as const;
const STATUSES = { begun: 'triggered', 'worked on': 'acknowledged', done: 'resolved' } as const;

/**
 * The reading part of PagerDuty's API, version 2: offsets with a bound, windows with a bound, no accounts of deleted users.
 * One incident of the second page of the first list appears only after its first page was read.
 */
export async function startPagerDuty(past: readonly Past[], limit: number): Promise<FakeApi> {
  const byId = new Map(past.map((incident) => [idOf(incident), incident]));
  const late = past[1];
  let isLateHere = false;
  const users = PEOPLE.filter(({ isDeleted }) => !isDeleted).map(({ id, name, email }) => ({
    id,
    type: 'user',
    name,
    email,
  }));

  const route = (url: URL): FakeAnswer => {
    const { pathname, searchParams: query } = url;
    const paged = <Row>(name: string, rows: readonly Row[]): FakeAnswer => {
      const [offset, size] = [Number(query.get('offset') ?? 0), Number(query.get('limit') ?? 25)];
      if (size > 100) return invalid('Limit must be between 1 and 100');
      if (offset + size > REACH) return invalid(`Offset+limit exceeds maximum allowed value of ${REACH}.`);
      const total = query.get('total') === 'true' ? rows.length : null;
      const page = {
        [name]: rows.slice(offset, offset + size),
        limit: size,
        offset,
        more: offset + size < rows.length,
        total,
      };
      return { status: 200, body: page };
    };
    const [since, until] = [Date.parse(query.get('since') ?? ''), Date.parse(query.get('until') ?? '')];
    const isWithin = (time: Date) => time.getTime() >= since && time.getTime() < until;
    if (pathname === '/users') return paged('users', users);
    if (pathname === '/incidents') {
      if (!(until - since <= LONGEST_RANGE)) return invalid('The date range must be at most 6 months');
      const listed = past.filter((incident) => isWithin(incident.createdAt) && (incident !== late || isLateHere));
      if (listed.length > 0) isLateHere = true;
      return paged('incidents', listed.map(incidentView));
    }
    const [, id = '', part = ''] = /^\/incidents\/(\w+)\/(.+)$/.exec(pathname) ?? [];
    const incident = byId.get(id);
    if (incident === undefined) return { status: 404, body: { error: { message: 'Not Found', code: 2100 } } };
    if (part === 'log_entries') {
      const newestFirst = incident.happenings.filter(({ at }) => isWithin(at)).toReversed();
      return paged(
        'log_entries',
        newestFirst.map((each) => logEntryView(each, id)),
      );
    }
    if (part === 'notes') return { status: 200, body: { notes: notesOf(incident) } };
    const field = {
      id: 'PF1',
      type: 'field_value',
      name: 'cause',
      data_type: 'string',
      field_type: 'single_value_fixed',
    };
    const customFields = Object.entries({ ...OWN_VALUES, number: 'a number of ours' });
    const fields = customFields.map(([name, value], index) => ({ ...field, id: `PF${index + 2}`, name, value }));
    return { status: 200, body: { custom_fields: [{ ...field, value: incident.tag }, ...fields] } };
  };
  return startFakeApi({
    route,
    limit,
    isAllowed: ({ authorization, accept }) =>
      authorization === `Token token=${TOKEN}` && accept === 'application/vnd.pagerduty+json;version=2',
    limitHeaders: (seconds) => ({
      'ratelimit-limit': '960',
      'ratelimit-remaining': '0',
      'ratelimit-reset': String(seconds),
    }),
  });
}

const invalid = (message: string): FakeAnswer => ({
  status: 400,
  body: { error: { message: 'Arguments Caused Error', code: 2002, errors: [message] } },
});

const idOf = ({ number }: Past) => `Q${String(number).padStart(6, '0')}`;
const reference = (type: string, id: string, summary: string) => ({ id, type: `${type}_reference`, summary });
const userReference = ({ id, name }: Person) => reference('user', id, name);

function incidentView(incident: Past) {
  const { number, title, state, priority, createdAt, endedAt, team, service, lead } = incident;
  const id = idOf(incident);
  return {
    id,
    type: 'incident',
    summary: `[#${number}] ${title}`,
    html_url: `https://acme.pagerduty.example/incidents/${id}`,
    incident_number: number,
    title,
    created_at: createdAt.toISOString(),
    status: STATUSES[state],
    incident_key: `key-${number}`,
    service: reference('service', `PS${service.length}`, service),
    assignments: state === 'done' ? [] : [{ at: createdAt.toISOString(), assignee: userReference(lead) }],
    last_status_change_at: (endedAt ?? createdAt).toISOString(),
    resolved_at: endedAt?.toISOString() ?? null,
    alert_counts: { all: number % 3, triggered: 0, resolved: number % 3 },
    escalation_policy: reference('escalation_policy', 'PE1', 'Everybody'),
    teams: [reference('team', `PT${team.length}`, team)],
    priority: priority === undefined ? null : reference('priority', `PP${priority}`, priority),
    urgency: number % 2 === 0 ? 'high' : 'low',
    incident_type: { name: 'incident_default' },
    conference_bridge: null,
    incidents_responders: [],
  };
}

const logEntryView = ({ id, at, type, text, person }: Happening, incident: string) => ({
  id: `R${id}`,
  type: `${LOG_TYPES[type]}_log_entry`,
  summary: text,
  html_url: `https://acme.pagerduty.example/incidents/${incident}/log_entries/R${id}`,
  created_at: at.toISOString(),
  agent: userReference(person),
  channel: { type: 'web_trigger' },
});

/** A description is a note of the author; a zone other than UTC is allowed. */
const notesOf = ({ number, note, description, lead, author, createdAt }: Past) =>
  [
    { id: `N${number}`, user: userReference(lead), content: note, created_at: createdAt.toISOString() },
    {
      id: `D${number}`,
      user: userReference(author),
      content: description,
      created_at: createdAt.toISOString().replace('Z', '+00:00'),
    },
  ].filter(({ content, id }) => content !== '' || id.startsWith('N'));
