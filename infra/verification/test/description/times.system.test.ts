import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { type Answer, eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { readPublicDescription } from '../../../../gateway/src/description.ts';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { ROOT } from '../../../installation/environment.ts';
import { type Example, examplesOf, sendExample } from '../../systems/examples.ts';
import { running, runningSystem } from '../../systems/running.ts';

/** Both ends of the range of times, each in several notations. */
const FIRST = ['0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00.000000+00:00', '0001-01-01T14:00:00+14:00'];
const LAST = ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999000Z', '9999-12-31T09:59:59.999-14:00'];
const OUTSIDE = ['0001-01-01T00:00:00+00:01', '0000-12-31T23:59:59Z', '9999-12-31T23:59:59-00:01'];

interface Schema {
  $ref?: string;
  format?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

interface Description {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

interface Operation {
  operationId: string;
  parameters?: { name: string; schema: Schema }[];
  requestBody?: { content: { 'application/json'?: { schema: Schema } } };
}

/** Returns all inputs of an app that are times, by operation: `?created_from`, `recovered_at`, `moments.recovered_at`. */
async function timesOf(folder: string): Promise<[operation: string, input: string][]> {
  const text = await readFile(path.join(ROOT, folder, 'openapi.json'), 'utf8');
  const { paths, components } = JSON.parse(text) as Description;
  const walk = ({ $ref, format, properties = {}, items, anyOf = [] }: Schema, at: readonly string[]): string[] => [
    ...($ref === undefined ? [] : walk(components.schemas[$ref.split('/').at(-1) ?? ''] ?? {}, at)),
    ...(format === 'date-time' ? [at.join('.')] : []),
    ...Object.entries(properties).flatMap(([name, schema]) => walk(schema, [...at, name])),
    ...(items === undefined ? [] : walk(items, [...at, '0'])),
    ...anyOf.flatMap((schema) => walk(schema, at)),
  ];
  return Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ operationId, parameters = [], requestBody }) =>
      [
        ...parameters.flatMap(({ name, schema }) => walk(schema, [`?${name}`])),
        ...walk(requestBody?.content['application/json']?.schema ?? {}, []),
      ].map((input): [string, string] => [operationId, input]),
    );
}

const times = (await Promise.all(APP_NAMES.map(async (app) => timesOf(APPS[app].folder)))).flat();

const EXAMPLES = examplesOf(await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example'));

/** Makes the nested object whose property at a dotted path has the value. */
const nested = (input: string, value: unknown): Record<string, unknown> =>
  input
    .split('.')
    .toReversed()
    .reduce<unknown>((inner, name) => (name === '0' ? [inner] : { [name]: inner }), value) as Record<string, unknown>;

describeWithServers('a time at an end of its range', () => {
  const system = runningSystem();
  const client = running(
    async () => system.as({ role: 'owner' }),
    async () => undefined,
  );
  const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
  const created = async (target: string, body: object) =>
    Object.values((await client.post(`/api/v1/${target}`, body)).body)[0] as { id: number };
  const declare = async (more: object = {}) => created('incidents', { title: 'x', ...more });

  beforeAll(async () => {
    const { id } = await declare({ impact_started_at: FIRST[0] });
    await declare({ impact_started_at: LAST[0], first_responded_at: LAST[0], recovered_at: LAST[0] });
    await declare({ recovered_at: FIRST[0] });
    const archived = await declare({ impact_started_at: FIRST[0] });
    await client.post(`/api/v1/incidents/${archived.id}/archive`);
    for (const [started_at] of [FIRST, LAST]) await created(`incidents/${id}/timeline`, { body: 'x', started_at });
    // An end of what is not known to fire is recorded, and declares nothing.
    expect((await client.post('/api/v1/alerts', { id: 'x', status: 'resolved', title: 'x' })).status).toBe(202);
    const user = await created('settings/users', { email: 'audited@acme.example', name: 'Audited' });
    // What is recorded last is there, and so is all before it.
    await eventually(async () => {
      const { entries } = (await client.get('/api/v1/settings/audit-log')).body;
      const { events } = (await client.get('/api/v1/events?from=beginning')).body;
      const isOfUser = ({ target }: { target: { type: string; id: unknown } }) =>
        target.type === 'user' && String(target.id) === String(user.id);
      return (
        entries.some(isOfUser) &&
        events.filter(({ type }: { type: string }) => type.startsWith('timeline')).length === 2
      );
    });
  });

  /** The documented requests, which name the first incident. */
  const documentedOf = (id: string): Example => {
    const example = EXAMPLES.find((each) => each.id === id);
    if (example === undefined) throw new Error(`there is no operation ${id}`);
    return example;
  };
  /**
   * How many rows there are with the first time and with the last one: of `all`, 400 for too many buckets. Default: all times
   * are between the two.
   */
  const SELECTED: Record<string, [number | 'all', number | 'all']> = {
    'listIncidents ?created_from': [3, 0],
    'listIncidents ?created_to': [0, 3],
    'listIncidents ?created_before': [0, 3],
    'listIncidents ?impact_started_from': [2, 1],
    'listIncidents ?impact_started_to': [1, 2],
    'listIncidents ?impact_started_before': [0, 1],
    'listArchivedIncidents ?created_from': [1, 0],
    'listArchivedIncidents ?created_to': [0, 1],
    'listArchivedIncidents ?created_before': [0, 1],
    'listArchivedIncidents ?impact_started_from': [1, 0],
    'listArchivedIncidents ?impact_started_to': [1, 1],
    'listArchivedIncidents ?impact_started_before': [0, 1],
    'getIncidentStatistics ?created_from': [400, 0],
    'getIncidentStatistics ?created_to': [0, 0],
    'getIncidentStatistics ?created_before': [0, 0],
    'getIncidentStatistics ?impact_started_from': [2, 1],
    'getIncidentStatistics ?impact_started_to': [1, 2],
    'getIncidentStatistics ?impact_started_before': [0, 1],
    'listTimelineEvents ?started_from': [2, 1],
    'listTimelineEvents ?started_to': [0, 1],
    'listAuditLog ?occurred_from': ['all', 0],
    'listAuditLog ?occurred_to': [0, 'all'],
    'listEvents ?from': ['all', 0],
    'listAlertNotifications ?received_from': ['all', 0],
    'listAlertNotifications ?received_to': [0, 'all'],
  };
  const countOf = ({ status, body }: Answer): number => {
    if (status !== 200) return status;
    const { incidents, events, entries, notifications, statistics } = body;
    const counts = statistics?.buckets.map((bucket: { incidents: number }) => bucket.incidents) ?? [];
    return (
      (incidents ?? events ?? entries ?? notifications)?.length ??
      counts.reduce((sum: number, count: number) => sum + count, 0)
    );
  };
  const inQueries = times.filter(([, input]) => input.startsWith('?'));
  // What a monitor says of such times is not believed.
  const inBodies = times.filter(([operation, input]) => !input.startsWith('?') && operation !== 'sendAlert');

  test.each(inQueries)('selects what it says: %s %s', async (operation, input) => {
    const { path: list } = documentedOf(operation);
    const get = async (time: string) => client.get(`${list}${input}=${encodeURIComponent(time)}`);
    const all = countOf(await client.get(operation === 'listEvents' ? `${list}?from=beginning` : list));
    expect(all).toBeGreaterThan(0);
    const between = input.endsWith('from') ? (['all', 0] as const) : ([0, 'all'] as const);
    const selected = SELECTED[`${operation} ${input}`] ?? between;
    const [first, last] = selected.map((count) => (count === 'all' ? all : count));
    for (const [end, expected] of [
      [FIRST, first],
      [LAST, last],
    ] as const) {
      for (const time of end) expect([time, countOf(await get(time))]).toEqual([time, expected]);
    }
    for (const time of OUTSIDE) {
      const { status, body } = await get(time);
      expect([time, status, body.field]).toEqual([time, 400, input.slice(1)]);
    }
  });

  let imported = 0;
  /** Sends a time in a body, and returns the answer with the resource that shows it. */
  const WRITES: Record<string, (input: string, time: string) => Promise<Answer>> = {
    createIncident: async (input, time) => client.post('/api/v1/incidents', { title: 'x', [input]: time }),
    updateIncident: async (input, time) =>
      client.patch(`/api/v1/incidents/${(await declare()).id}`, { [input]: time }, at(1)),
    createTimelineEvent: async (input, time) => {
      const start = input === 'ended_at' ? { started_at: FIRST[0] } : {};
      const body = { body: 'x', ...start, [input]: time };
      const target = `/api/v1/incidents/${(await declare()).id}`;
      const answer = await client.post(`${target}/timeline`, body);
      // The incident has it.
      if (input !== 'next_update_at' || answer.status !== 201) return answer;
      return { ...answer, body: (await client.get(target)).body };
    },
    updateTimelineEvent: async (input, time) => {
      const { id } = await created(`incidents/${(await declare()).id}/timeline`, { body: 'x', started_at: FIRST[0] });
      return client.patch(`/api/v1/timeline/${id}`, { [input]: time }, at(1));
    },
    replaceConfiguration: async (input, time) => {
      const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
      const rate = { currency: 'CHF', rate: 1.1, [input.split('.').at(-1) ?? '']: time };
      return client.put('/api/v1/settings/configuration', { exchange_rates: [rate] }, at(configuration.revision));
    },
    bulkIncidents: async (input, time) => {
      const { id } = await declare();
      const changes = { [input.split('.').at(-1) ?? '']: time };
      const answer = await client.post('/api/v1/incidents/bulk', { items: [{ id, revision: 1, changes }] });
      const [{ status, error }] = answer.body.results;
      return status === 200 ? answer : { ...answer, status, body: { field: `items.0.changes.${error.field}` } };
    },
    importIncidents: async (input, time) => {
      imported += 1;
      const { incidents } = nested(input, time) as { incidents: [Record<string, unknown>] };
      const [{ timeline = [], changelog = [], follow_ups = [], relations = [], ...others }] = incidents as [
        Record<string, object[]>,
      ];
      const { postmortem, ...given } = others as Record<string, object>;
      const author = { name: 'Ana' };
      const common = { title: 'x', status: 'closed', severity: 'sev3', author, created_at: '2026-01-01T00:00:00Z' };
      const partner = { external: { source: 'dispatch', id: 'partner' }, ...common };
      await client.post('/api/v1/imports/incidents', { incidents: [partner] });
      const item = {
        ...{ external: { source: 'dispatch', id: String(imported) }, ...common, ...given },
        timeline: timeline.map((event) => ({
          ...{ external_id: '1', type: 'note', body: 'x', author, started_at: FIRST[0], ...event },
        })),
        changelog: changelog.map((entry) => ({
          ...{ actor: author, changes: [{ field: 'title', from: 'a', to: 'b' }], ...entry },
        })),
        follow_ups: follow_ups.map((followUp) => ({
          ...{ external_id: '1', title: 'x', status: 'done', author, created_at: '2026-01-01T00:00:00Z', ...followUp },
        })),
        ...(postmortem && {
          postmortem: {
            ...{ state: 'published', sections: [], author, created_at: FIRST[0], updated_by: author },
            ...{ updated_at: '2026-01-01T00:00:00Z', ...postmortem },
          },
        }),
        relations: relations.map((relation) => ({ type: 'related', external: partner.external, author, ...relation })),
      };
      const answer = await client.post('/api/v1/imports/incidents', { incidents: [item] });
      const [result] = answer.body.results;
      if (result.outcome === 'refused')
        return { ...answer, status: 400, body: { field: `incidents.0.${result.field}` } };
      const target = `/api/v1/incidents/${result.incident_id}`;
      const shown = await Promise.all(
        ['', '/timeline', '/changelog', '/follow-ups', '/relations', '/postmortem'].map(async (part) =>
          client.get(target + part),
        ),
      );
      return { ...answer, body: shown.map(({ body }) => body) };
    },
  };
  /** As documented, to an incident of its own if its path names one. */
  const sendDocumented = async (operation: string, input: string, time: string): Promise<Answer> => {
    const example = documentedOf(operation);
    const path = example.template.replace('/incidents/{id}', `/incidents/${(await declare()).id}`);
    return sendExample(client, { ...example, path, body: { ...(example.body as object), ...nested(input, time) } });
  };
  /** An import and a new key have times that must not be in the future, or in the past. */
  const REFUSED: Record<string, readonly string[]> = {
    'importIncidents incidents.0.created_at': LAST,
    'importIncidents incidents.0.follow_ups.0.created_at': LAST,
    'importIncidents incidents.0.follow_ups.0.updated_at': LAST,
    'importIncidents incidents.0.relations.0.created_at': LAST,
    ...Object.fromEntries(
      ['created_at', 'updated_at', 'in_review_at', 'published_at'].map((name) => [
        `importIncidents incidents.0.postmortem.${name}`,
        LAST,
      ]),
    ),
    'createApiKey expires_at': FIRST,
  };

  test.each(inBodies)('is stored as it is: %s %s', async (operation, input) => {
    const write = WRITES[operation] ?? (async (at: string, time: string) => sendDocumented(operation, at, time));
    for (const end of [FIRST, LAST]) {
      for (const time of end) {
        const { status, body } = await write(input, time);
        const isRefused = REFUSED[`${operation} ${input}`] === end;
        expect([time, status < 300 ? 'accepted' : status]).toEqual([time, isRefused ? 400 : 'accepted']);
        if (!isRefused) expect(JSON.stringify(body)).toContain(`"${end[0]}"`);
      }
    }
    for (const time of OUTSIDE) {
      const { status, body } = await write(input, time);
      expect([time, status, body.field]).toEqual([time, 400, input]);
    }
  });
});
