import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';
import { aService, aTeam, aUser } from '../snapshots.ts';

const service = await serviceForFile();

describe('creating an incident', () => {
  test('returns the whole resource with defaults', async () => {
    const { status, body, headers } = await service.as().post('/api/v1/incidents', { title: '  Checkout is down ' });
    expect(status).toBe(201);
    expect(headers.get('Service-Resource-Version')).toBe('1');
    expect(body.incident).toMatchObject({
      revision: 1,
      company_id: 1,
      human_id: 'INC-1',
      title: 'Checkout is down',
      status: 'open',
      severity: 'sev3',
      severity_mode: 'auto',
      issue_type: 'incident',
      created_by: '42',
      team_id: null,
      status_changed_at: null,
      custom_fields: {},
      has_assignees: false,
      duration_seconds: 0,
      duration_anchor: 'created_at',
    });
    const again = await service.as().get(`/api/v1/incidents/${body.incident.id}`);
    expect({ ...again.body.incident, duration_seconds: 0 }).toEqual(body.incident);
    const byReference = await service.as().get('/api/v1/incident-references/inc-1');
    expect(byReference.body.incident.id).toBe(body.incident.id);
  });

  test('validates texts as they are stored and URLs as they are sent', async () => {
    const create = async (body: object) => service.as().post('/api/v1/incidents', { title: 'x', ...body });
    const title = '😀'.repeat(255);
    expect((await create({ title: ` ${title} ` })).body.incident).toMatchObject({ title });
    expect((await create({ title: `${title}x` })).body).toMatchObject({ code: 'invalid_request', field: 'title' });
    const region = 'x'.repeat(64);
    expect((await create({ regions: [` ${region} `] })).body.incident).toMatchObject({ regions: [region] });
    expect((await create({ regions: [`${region}x`] })).body).toMatchObject({ field: 'regions.0' });
    for (const url of ['https://a.example/\n', 'https://a.example/a b', ' https://a.example', 'https:\\\\a.example']) {
      expect((await create({ doc_url: url })).body).toMatchObject({ code: 'invalid_request', field: 'doc_url' });
    }
  });

  test('numbers incidents separately in each workspace', async () => {
    const client = service.as({ workspace: { id: 2, slug: 'other' } });
    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => client.post('/api/v1/incidents', { title: 'x' })),
    );
    const numbers = answers.map(({ body }) => Number(body.incident.human_id.slice(4))).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  });
});

test('a reference in the place of an ID is refused with the request that returns it, whether or not there is one', async () => {
  const client = service.as();
  const { body } = await client.post('/api/v1/incidents', { title: 'Named' });
  const { human_id: own, id } = body.incident;
  for (const reference of [own, 'INC-999999']) {
    const path = `/api/v1/incident-references/${reference}`;
    const message = `Must be an integer of at least 1; GET ${path} returns the incident with its ID`;
    for (const rest of ['', '/timeline', '/postmortem']) {
      const { status, body: refused } = await client.get(`/api/v1/incidents/${reference}${rest}`);
      expect([status, refused.field, refused.message]).toEqual([400, 'id', message]);
    }
    const listed = await client.get(`/api/v1/follow-ups?incident_id=${reference}`);
    expect(listed.body).toMatchObject({ field: 'incident_id', message: expect.stringContaining(`GET ${path} `) });
  }
  expect((await client.get(`/api/v1/incident-references/${own}`)).body.incident.id).toBe(id);
  expect((await client.get('/api/v1/incidents/checkout')).body.message).toBe('Must be an integer of at least 1');
});

describe('references of an incident', () => {
  test('must be active when set and may become inactive later', async () => {
    await service.owners.change(5, (data) => {
      data.teams = [aTeam(1)];
      data.users = [aUser(7)];
    });
    const stored = { team_id: 1, incident_manager: '7', incident_responders: ['7'] };
    const before = service.as({ workspace: { id: 5, version: 1 } });
    const { body } = await before.post('/api/v1/incidents', { title: 'x', ...stored });
    expect(body.incident).toMatchObject(stored);

    await service.owners.change(5, (data) => {
      data.teams = [aTeam(1, { revision: 2, archived_at: '2026-11-01T00:00:00.000Z' })];
      data.users = [{ ...aUser(7), active: false }];
    });
    const client = service.as({ workspace: { id: 5, version: 2 } });
    const patch = async (id: number, change: object, revision: number) =>
      client.patch(`/api/v1/incidents/${id}`, change, { 'If-Service-Resource-Version': String(revision) });
    expect((await patch(body.incident.id, stored, 1)).body.incident).toMatchObject({ ...stored, revision: 1 });
    expect((await patch(body.incident.id, { ...stored, title: 'y' }, 1)).body.incident.revision).toBe(2);

    const { body: other } = await client.post('/api/v1/incidents', { title: 'x' });
    for (const [name, value] of Object.entries(stored)) {
      const field = name === 'incident_responders' ? `${name}.0` : name;
      expect((await patch(other.incident.id, { [name]: value }, 1)).body).toMatchObject({
        code: 'invalid_request',
        field,
      });
    }
  });
});

test('a new incident takes the team of its active service, unless the team is archived', async () => {
  const archived_at = '2026-11-01T00:00:00.000Z';
  const version = await service.owners.change(6, (data) => {
    data.teams = [aTeam(61), aTeam(62, { archived_at })];
    data.services = [
      aService(61, { slug: 'web', owner_team_id: 61 }),
      aService(62, { slug: 'api', owner_team_id: 62 }),
      aService(63, { slug: 'old', owner_team_id: 61, archived_at }),
    ];
  });
  const client = service.as({ workspace: { id: 6, version } });
  const teamOf = async (slug: string) =>
    (await client.post('/api/v1/incidents', { title: 'x', service: slug })).body.incident.team_id;
  expect(await Promise.all(['web', 'api', 'old'].map(teamOf))).toEqual([61, null, null]);
});

test.each(['\u200b', ' \u2060\ufeff ', '\u00ad\u3164', '\u2800', '\u{e0001}'])(
  'a text that shows nothing, such as %j, is no title, no body, no type and no region',
  async (blank) => {
    const client = service.as({ workspace: { id: 7 } });
    const { body } = await client.post('/api/v1/incidents', { title: `${blank}x`, regions: [blank, 'eu'] });
    expect(body.incident).toMatchObject({ regions: ['eu'] });
    const path = `/api/v1/incidents/${body.incident.id}`;
    const started_at = '2026-11-20T09:00:00.000Z';
    for (const [refused, field] of [
      [await client.post('/api/v1/incidents', { title: blank }), 'title'],
      [await client.patch(path, { title: blank }, { 'If-Service-Resource-Version': '1' }), 'title'],
      [await client.post(`${path}/timeline`, { body: blank, started_at }), 'body'],
      [await client.post(`${path}/timeline`, { body: 'x', type: blank, started_at }), 'type'],
    ] as const) {
      expect(refused).toMatchObject(refusal(400, 'invalid_request', { field, message: 'Must not be blank' }));
    }
  },
);

describe('a severity in a PATCH', () => {
  test('makes the mode manual unless it equals the current severity', async () => {
    const client = service.as();
    const { body } = await client.post('/api/v1/incidents', { title: 'scored' });
    const path = `/api/v1/incidents/${body.incident.id}`;
    const same = await client.patch(path, { severity: 'sev3' }, { 'If-Service-Resource-Version': '1' });
    expect(same.body.incident).toMatchObject({ revision: 1, severity_mode: 'auto' });
    const other = await client.patch(path, { severity: 'sev1' }, { 'If-Service-Resource-Version': '1' });
    expect(other.body.incident).toMatchObject({ revision: 2, severity: 'sev1', severity_mode: 'manual' });
    const back = await client.patch(path, { severity_mode: 'auto' }, { 'If-Service-Resource-Version': '2' });
    expect(back.body.incident).toMatchObject({ revision: 3, severity: 'sev1', severity_mode: 'auto' });
  });
});
