import { beforeAll, expect, test } from '@jest/globals';
import { SCOPES } from '@tocsin/schemas';
import { type Answer, ONE_PIXEL, startSlack } from '@tocsin/testing';
import { json } from '@tocsin/testing/arbitraries';
import { describeWithServers } from '@tocsin/testing/suites';
import fc from '@tocsin/testing/fuzz';
import type { ValidateFunction } from 'ajv';
import { type ApiSchema, readPublicDescription } from '../../../../gateway/src/description.ts';
import { workspaceApi } from '../../../demo/api.ts';
import { addSampleData } from '../../../demo/sample-data.ts';
import { APP_NAMES } from '../../../installation/apps.ts';
import { running, runningSystem } from '../../systems/running.ts';
import { OF_OTHERS } from '../contract-schemas.ts';
import { allows, type Known, validatorOf, validBodies } from './valid-bodies.ts';

/** In total. */
const REQUESTS = 3_000;
const AT_ONCE = 8;
/** The accepted statuses. All apps are running, so 503 is a failure as well. */
const GOOD = new Set([200, 201, 202, 204, 400, 403, 404, 405, 409, 412, 413, 415, 428, 431]);

interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: { name: string; in: string }[];
  /** Of the body. */
  schema: ApiSchema | undefined;
  isValid: ValidateFunction | undefined;
  properties: string[];
  /** The documented body. */
  example: Record<string, unknown> | undefined;
  /** Its required properties. */
  plausible: Record<string, unknown>;
}

interface OddRequest {
  operation: Operation;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | undefined;
}

const description = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');

const OPERATIONS = Object.entries(description.paths).flatMap(([template, methods]) =>
  Object.entries(methods).map(([method, { operationId, parameters = [], requestBody }]): Operation => {
    const { schema, example } = requestBody?.content['application/json'] ?? {};
    const target = description.components?.schemas?.[schema?.$ref?.split('/').at(-1) ?? ''] ?? schema;
    const { properties = {}, required = [] } = target ?? {};
    return {
      id: operationId,
      method: method.toUpperCase(),
      path: template,
      parameters,
      schema,
      isValid: schema && validatorOf(description, schema),
      properties: Object.keys(properties),
      example: example as Operation['example'],
      plausible: Object.fromEntries(required.map((name) => [name, (example as Record<string, unknown>)[name]])),
    };
  }),
);

const oddText = fc.oneof(
  fc.constantFrom('', ' ', '0', '1', '2', '-1', '1.5', '1e3', '01', '9007199254740993', '9'.repeat(30), 'true', 'null'),
  fc.constantFrom(
    'a\0b',
    '\uFFFF',
    'ﬁ',
    'İ',
    '😀'.repeat(9),
    'e\u0301',
    '\u202E',
    '%',
    '_',
    "'",
    '";--',
    '../..',
    '__proto__',
  ),
  fc.constantFrom(
    '2026-11-20T09:30:00Z',
    '2026-02-30T00:00:00Z',
    '0001-01-01T00:00:00+14:00',
    '9999-12-31T23:59:60Z',
    '2026-11-20',
  ),
  fc.constantFrom(
    'open',
    'sev1',
    'custom',
    'number',
    'string',
    'select',
    'multi_select',
    'monetary',
    'json',
    't1',
    'incident.created',
  ),
  fc.constantFrom(
    'https://hooks.example.com/x',
    'https://localhost',
    'http://[::1]/',
    'https://user@host/',
    'eyJhIjoxfQ',
    'x'.repeat(300),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
);

const oddJson = fc.oneof(
  { weight: 4, arbitrary: oddText },
  fc.constantFrom(
    null,
    true,
    false,
    0,
    1,
    2,
    -1,
    0.1,
    1e21,
    -0,
    2 ** 53,
    1e308,
    [],
    {},
    [[]],
    [null],
    ['a', 'A'],
    [1, 1],
  ),
  fc.array(oddText, { maxLength: 3 }),
  fc.dictionary(oddText, oddText, { maxKeys: 3 }),
  fc.constant([{ field_id: 1, value: 'x' }]),
  fc.constant([{ slug: 'constructor', value: { amount: 1, currency: 'EUR' } }]),
  fc.constant({ options: ['a', { value: 'b' }], min: 3, max: 1, precision: 99 }),
  fc.jsonValue({ maxDepth: 3 }),
);

/** Lone surrogates cannot be percent-encoded. */
const encoded = (text: string) => encodeURIComponent(text.toWellFormed());
const headerSafe = (text: string) => text.replaceAll(/[^\x20-\x7e]/g, '?');

function oddRequest(operation: Operation): fc.Arbitrary<OddRequest> {
  const names = operation.parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name);
  const id = fc.oneof(fc.constantFrom('1', '2', '3', '4'), oddText.map(encoded));
  const query = fc.array(fc.tuple(fc.constantFrom(...names, 'limit', 'nonsense'), oddText), {
    maxLength: names.length === 0 ? 1 : 4,
  });
  const some = fc.dictionary(fc.constantFrom(...operation.properties, 'name', 'title'), oddJson, { maxKeys: 3 });
  const body = fc.oneof(
    { weight: 4, arbitrary: some.map((value) => JSON.stringify({ ...operation.plausible, ...value })) },
    { weight: 4, arbitrary: some.map((value) => JSON.stringify(value)) },
    { weight: 2, arbitrary: oddJson.map((value) => JSON.stringify(value)) },
    fc.constantFrom(
      '',
      '{',
      '{}{}',
      '\uFEFF{}',
      '[[[['.repeat(500),
      '{"a":1e999}',
      '{"__proto__":1}',
      '{"title":"\\ud800"}',
    ),
  );
  const headers = fc.record(
    {
      'Idempotency-Key': oddText.map(headerSafe),
      'If-Service-Resource-Version': fc.oneof(fc.constantFrom('1', '2'), oddText.map(headerSafe)),
      'X-Request-ID': oddText.map(headerSafe),
      'Content-Type': fc.oneof(
        { weight: 9, arbitrary: fc.constant('application/json') },
        fc.constantFrom('application/json; charset=utf-8', 'text/plain', ''),
      ),
    },
    {
      requiredKeys: ['PATCH', 'PUT'].includes(operation.method)
        ? ['If-Service-Resource-Version', 'Content-Type']
        : ['Content-Type'],
    },
  );
  return fc.record({ ids: fc.array(id, { minLength: 2, maxLength: 2 }), query, body, headers }).map((odd) => {
    let next = 0;
    const filled = operation.path.replaceAll(/\{\w+\}/g, () => odd.ids[next++] ?? '1');
    const search = odd.query.map(([name, value]) => `${name}=${encoded(value)}`).join('&');
    return {
      operation,
      method: operation.method,
      path: search === '' ? filled : `${filled}?${search}`,
      headers: odd.headers,
      body: operation.method === 'GET' ? undefined : odd.body,
    };
  });
}

/** The documented request of an operation twice: the second one names what the first has created. */
const twice = (operation: Operation): OddRequest[] =>
  operation.example === undefined
    ? []
    : Array<OddRequest>(2).fill({
        ...{ operation, method: operation.method, path: operation.path.replaceAll(/\{\w+\}/g, '1') },
        headers: { 'Content-Type': 'application/json', 'If-Service-Resource-Version': '1' },
        body: JSON.stringify(operation.example),
      });

describeWithServers('any request of a client', () => {
  const system = runningSystem();
  const client = running(async () => {
    // The requests name users and keys with these IDs, and may deactivate and revoke them.
    for (let id = 1; id <= 4; id += 1) await system.as({ role: 'viewer', seat: 'none' });
    return system.as();
  });
  beforeAll(async () => {
    await addSampleData(workspaceApi({ baseUrl: system.url, host: 'acme.localhost', token: client.token }));
    await client.post('/api/v1/incidents/1/follow-ups', { title: 'first' });
  });

  const send = async ({ method, path: target, headers, body }: OddRequest): Promise<Answer> => {
    const own = client.with(headers);
    if (method === 'GET') return own.get(target);
    if (method === 'DELETE') return own.delete(target);
    if (method === 'PATCH') return own.patch(target, body);
    return method === 'PUT' ? own.put(target, body) : own.post(target, body);
  };

  test(`gets a response without a server error, and is valid if it is accepted: ${REQUESTS} odd requests over all routes`, async () => {
    const anything = fc.constantFrom(...OPERATIONS).chain(oddRequest);
    const seed = Date.now() % 2 ** 31;
    const requests = fc.sample(anything, { numRuns: REQUESTS, seed });
    const documented = OPERATIONS.flatMap(twice);
    const statuses = new Map<number, number>();

    const work = async () => {
      for (let request = requests.pop(); request !== undefined; request = requests.pop()) {
        const { status, body } = await send(request);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        const { isValid } = request.operation;
        const isUnexpected =
          status < 300 &&
          isValid !== undefined &&
          request.body !== '' &&
          !allows(isValid, JSON.parse(request.body ?? '{}'));
        if (!GOOD.has(status) || isUnexpected)
          throw new Error(JSON.stringify({ seed, request, status, body, errors: isValid?.errors }));
        if (status >= 400) {
          expect(body).toMatchObject({
            code: expect.any(String),
            message: expect.any(String),
            request_id: expect.any(String),
          });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    // One after the other: some are refused while another one is under way.
    requests.push(...documented);
    await work();

    expect([...statuses.values()].reduce((sum, each) => sum + each)).toBe(REQUESTS + documented.length);
    // The requests were not all refused early: every kind of outcome occurred.
    expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404, 409]));
  });
});

/** Of each operation. */
const BODIES = 50;

const SEED = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;

/** How many bodies of an operation are accepted at least if what they name exists; default: one. */
const LEAST: Readonly<Record<string, number>> = {
  ...{ createUser: 40, updateUser: 40, createApiKey: 30, updateApiKey: 40, rotateApiKey: 50 },
  ...{ createTeam: 35, updateTeam: 40, addTeamMember: 50, updateTeamMember: 50, createService: 30, updateService: 40 },
  ...{ createIncident: 8, updateIncident: 20, resolveIncident: 45, closeIncident: 45, archiveIncident: 50 },
  ...{ createTimelineEvent: 5, updateTimelineEvent: 3, updateIncidentCustomFields: 40, importIncidents: 50 },
  ...{ createIncidentRelation: 50, createFollowUp: 10, updateFollowUp: 10 },
  ...{ previewIncidentChannelName: 15, setIncidentChannelName: 15, updateCustomField: 5, replaceConfiguration: 35 },
  ...{ createWebhook: 25, replaceWebhookHeaders: 28, sendAlert: 35, bulkIncidents: 40 },
};

/** What the state of the incident refuses, whatever the body is. */
const REFUSED = [
  ...['reopenIncident', 'restoreIncident', 'requestIncidentProvisioning', 'retryIncidentProvisioning'],
  'createIncidentPostmortem',
];

/** The rules that JSON Schema cannot say of a body, by the field that breaks one and what the service says of it. */
const RULES: Readonly<Record<string, RegExp>> = {
  'what is named exists':
    /: Must be (?:an? (?:active|existing|timeline|tracker|user's)|one of|the revision in|IDs of pictures of) /,
  'a team is not below itself': /^parent_team_id: Must not be the team itself/,
  'a key has no scope that another key lacks': /^scopes: Must not have scopes/,
  'a text shows something': /: Must not be blank$/,
  'letters of all scripts, lengths in bytes': /^(?:slug: Must be a letter|name: Must be 1 to 80 characters)/,
  'a slug can be made of a name': /^slug: Is required because the name/,
  'what is gone for good is confirmed': /^confirmation: Must be /,
  'times exist, and come in the future':
    /: (?:Must be (?:an RFC 3339 .*: (?:leap|the years)|a calendar date)|The expiry must)/,
  'time zones exist': /^time_zone: Must be the name/,
  'templates have known placeholders':
    /^(?:postmortem_)?template: Must (?:not have (?:the|a) placeholder|have 1 to \d+ characters)/,
  'sections have one line of title, keys that differ, and a size':
    /^sections(?:\.\d+\.\w+)?: Must (?:not have a (?:key twice|placeholder more)|be (?:one line|at most \d+ bytes))/,
  'some headers are of proxies': /^headers\..*: Must have Authorization/,
  'URLs can be read, and are public':
    /url: Must (?:be an absolute|use port 443|not be a private|not contain a query|have a public)/,
  'projects are named as by their kind': /^project: Must be (?:a repository|the (?:key|path) of)/,
  'properties fit each other':
    /: (?:Is (?:only allowed|not allowed|required) (?:with|for)|Must not be (?:given|true|combined) |Must have at least one option|The event must not end)/,
  'a config fits its type': /^config\.\w+: (?:Is not allowed for|Must be at least min)/,
  'a value fits its field': /(?:^default_value|\.value).*: (?:Must|Is)/,
  'entries differ by a key, in order':
    /^\w+(?:\.\d+\.\w+)?: (?:Exactly one|.* is a duplicate|Must be greater than|Must not (?:be greater|be a keyword|have a header twice)|.* cannot be removed)/,
  'no list repeats a value in another form':
    /: (?:Must not (?:occur more than (?:once|2 times)|have the same item twice)|Must have at most 50 items)$/,
  'what other systems send is read after its schema':
    /^(?:action|alerts|data|groupKey|event_action|dedup_key|payload|labels|schemaId)(?:\.[\w.]+)?: Must /,
  'some types of events are reserved': /^type: Must not be a reserved type/,
};

describeWithServers('a body that is valid by the API description', () => {
  const slack = running(startSlack);
  const system = runningSystem(() => ({ settings: { SLACK_API_URL: slack.url } }));
  const client = running(async () => system.as({ role: 'owner' }));
  /** The IDs of what the paths name. */
  const ids: Record<string, number> = {};
  let configuration: Record<'workflow_statuses' | 'severities' | 'service_tiers', unknown>;
  beforeAll(async () => {
    const template = ['--channel-template', 'inc-{id}-{short_title}'];
    await system.admin('slack', 'connect', '--workspace', 'acme', '--bot-token', slack.token, ...template);
    const create = async (path: string, body: object) => {
      const answer = await client.post(`/api/v1/${path}`, body);
      const [created] = Object.values(answer.body as Record<string, { id: number }>);
      ids[path.split('/').at(-1)!] = created!.id;
    };
    await create('settings/users', { email: 'member@acme.example', name: 'Member' });
    ids['members'] = ids['users']!;
    await create('settings/users', { email: 'somebody@acme.example', name: 'Somebody' });
    await create('settings/api-keys', { name: 'Key', scopes: SCOPES });
    await create('teams', { name: 'Team' });
    await create('services', { name: 'Service' });
    await create('custom-fields', { name: 'Field', field_type: 'json' });
    await create('incidents', { title: 'Other' });
    ids['other'] = ids['incidents']!;
    await create('incidents', { title: 'Incident', slack_channel_id: slack.addChannel({ name: 'incident' }).id });
    await create(`incidents/${ids['incidents']}/timeline`, { body: 'Event' });
    await create(`incidents/${ids['incidents']}/follow-ups`, { title: 'Follow-up' });
    const uploaded = await client.post(`/api/v1/incidents/${ids['incidents']}/pictures`, ONE_PIXEL, {
      'Content-Type': 'image/png',
    });
    ids['pictures'] = uploaded.body.picture.id as number;
    const postmortem = `/api/v1/incidents/${ids['incidents']}/postmortem`;
    await client.post(postmortem);
    await client.patch(postmortem, { state: 'in_review' }, { 'If-Service-Resource-Version': '1' });
    await create('settings/webhooks', { url: 'https://hooks.example.com/x' });
    await create('settings/trackers', { name: 'Issues', kind: 'github', project: 'acme/shop', credential: 'token' });
    await create('settings/destinations', { name: 'Receiver', kind: 'http', url: 'https://hooks.example.com/x' });
    await client.post(`/api/v1/teams/${ids['teams']}/members`, { user_id: ids['members'] });
    ({ configuration } = (await client.get('/api/v1/settings/configuration')).body as {
      configuration: typeof configuration;
    });
  });

  /** What a client that knows the workspace chooses. */
  const known = (operation: string): Known => {
    const { users, teams, incidents: _, ...more } = ids;
    const field_id = more['custom-fields'];
    return {
      team_id: fc.constantFrom(teams, null),
      owner_team_id: fc.constantFrom(teams, null),
      parent_team_id: fc.constant(null),
      user_id: fc.constant(users),
      incident_id: fc.constant(ids['other']),
      incident_manager: fc.constantFrom('', String(users)),
      incident_responders: fc.constantFrom([], [String(users)]),
      kind: fc.constant({ setTeamOnCall: 'icalendar', createTracker: 'github' }[operation] ?? 'http'),
      project: fc.constant('acme/shop'),
      // Github has none.
      issue_type: fc.constant(undefined),
      confirmation: fc.constantFrom('INC-2', 'somebody@acme.example'),
      roles: fc.constant({}),
      visible_to: fc.constantFrom({}, { users: [users], teams: [teams] }),
      severity: fc.constantFrom('sev1', 'sev4'),
      status: fc.constantFrom('open', 'monitoring'),
      tier: fc.constantFrom('t0', 't3'),
      group_id: fc.constant(null),
      owner: fc.constantFrom('', String(users)),
      due_on: fc.constantFrom('2026-12-04', null),
      custom_field_values: json.map((value) => [{ field_id, value }]),
      values: json.map((value) => [{ field_id, value }]),
      attachments: fc.constantFrom([], [ids['pictures']]),
      runbook_url: fc.constantFrom(null, 'https://runbooks.example/checkout'),
      expected_revision: fc.constant(revision('incidents')),
      revision: fc.constant(1),
      time_zone: fc.constantFrom(...Intl.supportedValuesOf('timeZone').filter((name) => name.includes('/'))),
      workflow_statuses: fc.constant(configuration.workflow_statuses),
      severities: fc.constant(configuration.severities),
      service_tiers: fc.constant(configuration.service_tiers),
      replace: fc.constant({}),
    };
  };

  /** An incident has one event, and its post-mortem was changed once. */
  const revision = (kind: string | undefined) => (kind === 'incidents' ? 2 : 1);

  /** A good body with another value of one of its properties, by its name: most of them are not valid. */
  function* brokenBodies(good: object, { $ref, ...own }: ApiSchema): Generator<[name: string, change: object]> {
    const { properties = {} } = description.components?.schemas?.[$ref?.split('/').at(-1) ?? ''] ?? own;
    for (const [name, { maxLength = 70_000, maxItems = 1_000 }] of Object.entries(properties)) {
      const longest = 'x'.repeat(maxLength + 1);
      const most = Array.from({ length: maxItems + 1 }, (_, index) => `n${index}`);
      for (const value of [undefined, null, true, 1.5, -1, '', ' ', 'nonsense', longest, [7], most, {}])
        if (value !== undefined || name in good) yield [name, { [name]: value }];
    }
  }

  // Validated only, so that each body meets the same state.
  test.each(OPERATIONS.filter(({ schema }) => schema !== undefined))(
    `is accepted, or refused by a rule that JSON Schema cannot say, and others by name: $id (seed ${SEED})`,
    async ({ id, method, path, schema = {}, isValid, parameters }) => {
      const [, kind = ''] = /([\w-]+)\/\{id\}/.exec(path) ?? [];
      const target = path.replace('{id}', String(ids[kind])).replace('{userId}', String(ids['members']));
      const headers = parameters.some(({ name }) => name === 'If-Service-Resource-Version')
        ? { 'If-Service-Resource-Version': String(revision(kind)) }
        : {};
      const accepted = { any: 0, known: 0 };
      const unexplained = new Set<string>();
      let good: object = {};
      for (const [which, values] of [
        ['any', {}],
        ['known', known(id)],
      ] as const) {
        const bodies = fc.sample(validBodies(description, schema, values), { numRuns: BODIES, seed: SEED });
        for (const sent of bodies) {
          const { status, body } = await client.send(
            method,
            `${target}?validate_only=true`,
            JSON.stringify(sent),
            headers,
          );
          if (status < 300) {
            accepted[which] += 1;
            good = sent as object;
          } else if (![400, 409, 412].includes(status)) throw new Error(JSON.stringify({ id, sent, status, body }));
          else if (status === 400) {
            const refusal = `${body.field}: ${body.message}`;
            if (body.field === undefined || !Object.values(RULES).some((rule) => rule.test(refusal)))
              unexplained.add(refusal);
          }
        }
      }
      if (process.env['TEST_LOG'] !== undefined) console.log(`${id}: ${accepted.any} ${accepted.known} of ${BODIES}`);
      expect([...unexplained]).toEqual([]);
      // A schema says little of what other systems send.
      const least = LEAST[id] ?? (OF_OTHERS.includes(id) || REFUSED.includes(id) ? 0 : 1);
      expect(accepted.known).toBeGreaterThanOrEqual(least);
      let refusals = 0;
      for (const [name, body] of brokenBodies(good, schema)) {
        const sent = { ...good, ...body };
        if (isValid === undefined || allows(isValid, sent)) continue;
        const { status, body: refused } = await client.send(method, `${target}?validate_only=true`, sent, headers);
        expect({ sent, status, field: refused.field }).toEqual({
          ...{ sent, status: 400, field: expect.stringMatching(new RegExp(`^${name}(\\.|$)`)) },
        });
        refusals += 1;
      }
      // What other systems send has no types.
      expect(refusals > 0).toBe(!OF_OTHERS.includes(id));
      if (process.env['TEST_LOG'] !== undefined) console.log(`${id}: ${refusals} refused`);
    },
  );
});
