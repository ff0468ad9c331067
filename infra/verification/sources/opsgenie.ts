import { OWN_VALUES, type Past, PEOPLE, SERVICES, TEAMS } from './data.ts';
import { type FakeAnswer, type FakeApi, startFakeApi } from './fake-api.ts';

const REACH = 20_000;
const KEY = 'eb243592-fake';
export const OPSGENIE_ENV = { OPSGENIE_API_KEY: KEY };

const STATUSES = { begun: 'open', 'worked on': 'resolved', done: 'closed' } as const;

/**
 * The reading part of Opsgenie's API: a list with a search and a bound of its offset, logs and notes that name the next
 * page, timelines in pages of 20. One incident is deleted after the first page of the list was read.
 */
export async function startOpsgenie(past: readonly Past[], limit: number): Promise<FakeApi> {
  const byId = new Map(past.map((incident) => [idOf(incident), incident]));
  const gone = past[2];
  let isGone = false;
  const route = ({ pathname, searchParams: query }: URL): FakeAnswer => {
    const size = Number(query.get('limit') ?? 20);
    const ok = (data: unknown, more: object = {}) => ({
      status: 200,
      body: { data, ...more, took: 0.01, requestId: 'r' },
    });
    const paged = <Row>(rows: readonly Row[]): FakeAnswer => {
      const offset = Number(query.get('offset') ?? 0);
      if (size > 100) return invalid('limit must be between 1 and 100');
      if (offset + size > REACH) return invalid(`Sum of offset and limit should be lower than ${REACH}`);
      const end = offset + size;
      const next = `https://api.opsgenie.example${pathname}?offset=${end}&limit=${size}`;
      return ok(rows.slice(offset, end), { paging: end < rows.length ? { next } : {}, totalCount: rows.length });
    };
    if (pathname === '/v2/teams') return ok(TEAMS.map((name, index) => ({ id: `t-${index}`, name })));
    if (pathname === '/v1/services') return paged(SERVICES.map((name, index) => ({ id: `s-${index}`, name })));
    if (pathname === '/v2/users')
      return paged(
        PEOPLE.filter(({ isDeleted }) => !isDeleted).map(({ id, name, email }) => ({
          id,
          username: email,
          fullName: name,
        })),
      );
    if (pathname === '/v1/incidents') {
      const search = /^createdAt >= (\d+) AND createdAt < (\d+)$/.exec(query.get('query') ?? '');
      if (search === null || query.get('order') !== 'asc' || query.get('sort') !== 'createdAt')
        return invalid('Query could not be parsed');
      const [since, until] = [Number(search[1]), Number(search[2])];
      const isListed = (incident: Past) =>
        incident.createdAt.getTime() >= since && incident.createdAt.getTime() < until && !(isGone && incident === gone);
      const answer = paged(past.filter(isListed).map(incidentView));
      isGone = true;
      return answer;
    }
    const [, id = '', part = ''] = /^\/v[12]\/incident(?:s|-timelines)\/([\w-]+)\/(\w+)$/.exec(pathname) ?? [];
    const incident = byId.get(id);
    if (incident === undefined || (isGone && incident === gone))
      return { status: 404, body: { message: 'Incident not found', took: 0.01 } };
    if (part === 'entries') {
      if (size > 20) return invalid('limit must be between 1 and 20');
      const start = Number(query.get('offset') ?? 0);
      const entries = incident.happenings.slice(start, start + size).map(({ id: entry, at, type, text, person }) => ({
        ...{ id: `e-${entry}`, group: 'incident', type: `Incident${type}`, eventTime: at.toISOString(), hidden: false },
        ...{ actor: { name: person.email, type: 'user' }, description: { type: 'plain_text', content: text } },
      }));
      const nextOffset = start + size < incident.happenings.length ? String(start + size) : undefined;
      return ok({ entries, nextOffset });
    }
    const rows = part === 'notes' ? notesOf(incident) : logsOf(incident);
    const start = Number(query.get('offset') ?? 0);
    const next = `https://api.opsgenie.example${pathname}?offset=${start + size}&limit=${size}&order=asc&direction=next`;
    return ok(rows.slice(start, start + size), { paging: start + size < rows.length ? { next } : {} });
  };
  return startFakeApi({
    route,
    limit,
    isAllowed: ({ authorization }) => authorization === `GenieKey ${KEY}`,
    limitHeaders: (seconds) => ({
      'X-RateLimit-State': 'THROTTLED',
      'X-RateLimit-Reason': 'ACCOUNT',
      'X-RateLimit-Period-In-Sec': String(seconds),
    }),
  });
}

const invalid = (message: string): FakeAnswer => ({ status: 422, body: { message, took: 0.01 } });

const idOf = ({ number }: Past) => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

function incidentView(incident: Past) {
  const { number, title, description, state, priority = '', createdAt, endedAt, lead } = incident;
  const id = idOf(incident);
  return {
    id,
    description,
    tinyId: String(number % 1_000),
    message: title,
    status: STATUSES[state],
    tags: [incident.tag],
    createdAt: createdAt.toISOString(),
    updatedAt: (endedAt ?? createdAt).toISOString(),
    priority,
    ownerTeam: `t-${TEAMS.indexOf(incident.team)}`,
    responders: [
      { type: 'user', id: lead.id },
      { type: 'team', id: 't-1' },
    ],
    extraProperties: { cause: incident.tag, region: 'eu', ...OWN_VALUES, tags: 'tags of ours' },
    links: {
      web: `https://acme.opsgenie.example/incident/detail/${id}`,
      api: `https://api.opsgenie.example/v1/incidents/${id}`,
    },
    impactedServices: [`s-${SERVICES.indexOf(incident.service)}`],
    impactStartDate: createdAt.toISOString(),
    ...(endedAt !== undefined && { impactEndDate: endedAt.toISOString() }),
    actions: [],
  };
}

/** Logs have no ID; the place in the list is theirs. */
const logsOf = ({ happenings, author, createdAt }: Past) =>
  [
    { text: 'Incident created', owner: author.email, at: createdAt },
    ...happenings.slice(0, 3).map(({ text, person, at }) => ({ text, owner: person.email, at })),
  ].map(({ text, owner, at }, index) => ({
    log: text,
    type: 'system',
    owner,
    createdAt: at.toISOString(),
    offset: `${at.getTime()}_${index}`,
  }));

const notesOf = ({ note, lead, createdAt }: Past) => [
  { note, owner: lead.email, createdAt: createdAt.toISOString(), offset: `${createdAt.getTime()}_n` },
];
