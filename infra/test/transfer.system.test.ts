import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { type Client, eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { BUSY_MACHINE } from '../verification/systems/local-harness.ts';
import type { System } from '../verification/systems/system.ts';
import { runningSystem } from './running.ts';

const IMPORTS = '/api/v1/imports/incidents';
const EXPORTS = '/api/v1/exports/incidents';

type Line = Record<string, unknown> & { kind: string };

describeWithServers('a workspace that moves', () => {
  const system = runningSystem(() => ({ settings: BUSY_MACHINE }));

  const linesOf = async (client: Client): Promise<Line[]> =>
    (await client.get(EXPORTS)).text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Line);

  test('is the same in another one, with its configuration, teams, services, fields and incidents', async () => {
    const from = await system.as({ workspace: 'from', role: 'owner' });
    await fill(from);
    const lines = await linesOf(from);
    const to = await system.as({ workspace: 'to', role: 'owner' });
    await createFront(to, lines);
    const incidents = lines.filter(({ kind }) => kind === 'incident');
    const { results } = (await to.post(IMPORTS, { incidents })).body;
    expect(results).toMatchObject(incidents.map(() => ({ outcome: 'created' })));
    expect(withoutNames(await linesOf(to))).toEqual(withoutNames(lines));

    const feed = async () =>
      (await to.get('/api/v1/events?from=beginning&limit=100')).body.events
        .map(({ type }: { type: string }) => type)
        .filter((type: string) => /^(incident|timeline_event)\./.test(type));
    await eventually(async () => (await feed()).length === incidents.length);
    expect(await feed()).toEqual(incidents.map(() => 'incident.imported'));
  });

  test('stops its export within a second after the key is revoked', async () => {
    const owner = await system.as({ workspace: 'large', role: 'owner' });
    const keys = '/api/v1/settings/api-keys';
    const { api_key: key, token } = (await owner.post(keys, { name: 'leaver', scopes: ['incidents:read'] })).body;
    const author = { name: 'Ana' };
    const started_at = '2024-03-02T18:20:00Z';
    for (let batch = 0; batch < 60; batch += 1) {
      const timeline = Array.from({ length: 10 }, (_, index) => ({
        ...{ external_id: `${batch}-${index}`, type: 'note', started_at, author, body: 'x'.repeat(60_000) },
      }));
      const item = { external: { source: 'dispatch', id: '1' }, title: 'Large', status: 'closed', severity: 'sev3' };
      const incident = { ...item, created_at: '2024-03-02T18:04:00Z', author, timeline };
      expect((await owner.post(IMPORTS, { incidents: [incident] })).body.results[0].outcome).toMatch(/ed$/);
    }
    const unread = await openExport(system, { workspace: 'large', token });
    await owner.post(`${keys}/${key.id}/revoke`, {});
    await eventually(async () => (await owner.with({ Authorization: `Bearer ${token}` }).get(EXPORTS)).status === 401);
    expect((await text(unread).catch(() => '')).endsWith('{"kind":"end"}\n')).toBe(false);
  });
});

async function fill(client: Client): Promise<void> {
  const made = async (path: string, body: object) => {
    const { status, body: reply } = await client.post(`/api/v1/${path}`, body);
    expect(status).toBe(201);
    return Object.values(reply as Record<string, { id: number }>)[0] as { id: number };
  };
  const parent = await made('teams', { name: 'Zeta', description: 'Above' });
  const team = await made('teams', { name: 'Payments', parent_team_id: parent.id, external_id: 'hr-1' });
  await made('services', { name: 'Checkout', owner_team_id: team.id, tier: 't0', tags: ['web'] });
  const old = await made('services', { name: 'Old' });
  await client.delete(`/api/v1/services/${old.id}`);
  const config = { options: ['capacity', 'deploy'] };
  const field = await made('custom-fields', { name: 'Cause', field_type: 'select', config, required: true });
  const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
  const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
  const groups = { timeline_groups: [{ name: 'Comms' }] };
  const { body } = await client.put('/api/v1/settings/configuration', groups, revision);
  const [{ id: group_id }] = body.configuration.timeline_groups;

  const values = [{ field_id: field.id, value: 'deploy' }];
  const { user } = (await client.get('/api/v1/me')).body;
  const whole = { title: 'Down', service: 'checkout', regions: ['eu'], custom_field_values: values };
  const one = await made('incidents', { ...whole, incident_manager: String(user.id), severity: 'sev1' });
  await made(`incidents/${one.id}/timeline`, { body: 'Looking', group_id, tags: ['a'], is_key: true });
  await client.post(`/api/v1/incidents/${one.id}/resolve`, { resolution_note: 'Rolled back' });
  const two = await made('incidents', { title: 'Small', external_id: 'alert-1' });
  await client.post(`/api/v1/incidents/${two.id}/archive`, {});
}

/** Creates what the lines in front of the incidents say, as a person or a script would. */
async function createFront(client: Client, lines: readonly Line[]): Promise<void> {
  const { configuration } = (await client.get('/api/v1/settings/configuration')).body;
  const wanted = lines.find(({ kind }) => kind === 'workspace')?.['configuration'] as Record<string, object[]>;
  const lists = Object.entries(wanted).map(([name, list]) => [
    name,
    list.map((entry) => Object.fromEntries(Object.entries(entry).filter(([key]) => !['order', 'id'].includes(key)))),
  ]);
  const revision = { 'If-Service-Resource-Version': String(configuration.revision) };
  const replaced = await client.put('/api/v1/settings/configuration', Object.fromEntries(lists), revision);
  expect([replaced.status, replaced.text]).toEqual([200, expect.any(String)]);

  const ids = new Map<unknown, number>();
  const create = async (path: string, { kind, archived, ...line }: Line, body: object) => {
    const given = Object.entries({ ...line, ...body }).filter(([, value]) => value !== null && value !== undefined);
    const made = await client.post(`/api/v1/${path}`, Object.fromEntries(given));
    expect([made.status, made.text]).toEqual([201, expect.any(String)]);
    const { id } = made.body[kind] as { id: number };
    ids.set(line['slug'], id);
    if (archived === true) await client.delete(`/api/v1/${path}/${id}`);
  };
  const of = (kind: string) => lines.filter((line) => line.kind === kind);
  for (const line of of('team')) await create('teams', line, { parent_team: undefined });
  for (const { slug, parent_team: parent } of of('team')) {
    if (parent === null) continue;
    const body = { parent_team_id: ids.get(parent) };
    await client.patch(`/api/v1/teams/${ids.get(slug)}`, body, { 'If-Service-Resource-Version': '1' });
  }
  for (const line of of('service')) {
    const owner_team_id = ids.get(line['owner_team']);
    await create('services', line, { owner_team: undefined, owner_team_id });
  }
  for (const line of of('field')) {
    await create('custom-fields', line, { sort_order: undefined });
    const place = { sort_order: line['sort_order'] };
    await client.patch(`/api/v1/custom-fields/${ids.get(line['slug'])}`, place, { 'If-Service-Resource-Version': '1' });
  }
}

/** Without what names the workspace, the time, and the IDs of groups. */
const withoutNames = (lines: readonly Line[]) =>
  lines.map((line) =>
    line.kind === 'workspace'
      ? JSON.parse(JSON.stringify({ ...line, slug: '', exported_at: '' }).replaceAll(/"id":\d+,/g, ''))
      : line,
  );

/** Opens an export, and reads nothing of it. */
async function openExport(system: System, { workspace, token }: { workspace: string; token: string }) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { Host: `${workspace}.localhost`, Authorization: `Bearer ${token}` };
  get(new URL(EXPORTS, system.url), { headers, agent: false }, resolve).on('error', reject);
  return promise;
}
