import { expect, test } from '@jest/globals';
import { eventually, testClock } from '@tocsin/testing';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';

const PATH = '/api/v1/settings/retention';
const DAY = 86_400_000;
const START = '2026-11-24T10:00:00.000Z';
const after = (days: number) => new Date(Date.parse(START) + days * DAY).toISOString();
const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const NONE = { archived_incidents: null, audit_log: null, access_log: null, alert_records: null };

const clock = testClock(START);
const broker = new RecordingBroker();
const service = await serviceForFile({ broker, clock, taskInterval: 100 });
const { knex: database, owners } = service;
let workspaces = 7_000;
const newWorkspace = () => {
  const id = (workspaces += 1);
  const as = (user: object = {}) => service.as({ ...user, workspace: { id, slug: `w${id}` } });
  return { id, as, client: as() };
};
const create = async (client: ReturnType<typeof newWorkspace>['client'], title: string) =>
  (await client.post('/api/v1/incidents', { title })).body.incident as { id: number; human_id: string };

test('everything is kept until an owner sets periods, which apply 30 days later', async () => {
  const { client, as } = newWorkspace();
  const first = await client.get(PATH);
  const announced = { count: 0, first_at: null };
  expect(first.body.retention).toEqual({ revision: 1, days: NONE, starts_at: NONE, announced });

  const admin = as({ permissions: ['manage_settings'] });
  const days = { archived_incidents: 365, audit_log: 400 };
  expect((await admin.put(PATH, { days }, at(1))).body.code).toBe('missing_role_permission');
  const set = await client.put(PATH, { days }, at(1));
  expect([set.status, set.headers.get('service-resource-version')]).toEqual([200, '2']);
  const starts = { ...NONE, archived_incidents: after(30), audit_log: after(30) };
  expect(set.body.retention).toMatchObject({ revision: 2, days: { ...NONE, ...days }, starts_at: starts });
  expect((await client.put(PATH, { days: { access_log: 30 } }, at(1))).status).toBe(412);

  clock.advance(DAY);
  // What is longer than before applies at once, what is shorter 30 days later, what is the same changes nothing.
  const changed = await client.put(PATH, { days: { archived_incidents: 366, audit_log: 90 } }, at(2));
  expect(changed.body.retention.starts_at).toEqual({ ...starts, audit_log: after(31) });
  expect((await client.put(PATH, { days: { audit_log: 90 } }, at(3))).body.retention.revision).toBe(3);
  const entries = () => broker.published.filter(({ type }) => type === 'audit.recorded').map(({ data }) => data.entry);
  await eventually(() => entries().length === 2);
  expect(entries()).toMatchObject([
    { action: 'retention.changed', before: NONE, after: { ...NONE, ...days } },
    { action: 'retention.changed', before: days, after: { archived_incidents: 366, audit_log: 90 } },
  ]);
});

test.each([
  [{ archived_incidents: 29 }, 'days.archived_incidents'],
  [{ audit_log: 36_501 }, 'days.audit_log'],
  [{ alert_records: 1.5 }, 'days.alert_records'],
  [{ timelines: 30 }, 'days.timelines'],
])('%j is refused', async (days, field) => {
  const { client } = newWorkspace();
  const { status, body } = await client.put(PATH, { days }, at(1));
  expect([status, body.field]).toEqual([400, field]);
});

test('what was archived for so long is announced for 30 days, then deleted; what was restored stays', async () => {
  const { id: workspaceId, client, as } = newWorkspace();
  const [old, restored, young, secret] = [
    await create(client, 'Old'),
    await create(client, 'Restored'),
    await create(client, 'Young'),
    (await client.post('/api/v1/incidents', { title: 'Secret', restricted: true })).body.incident,
  ];
  const archivedAt = Date.parse(clock.now());
  for (const { id } of [old, restored, secret]) await client.post(`/api/v1/incidents/${id}/archive`);
  expect((await client.put(PATH, { days: { archived_incidents: 60 } }, at(1))).status).toBe(200);
  clock.advance(29 * DAY);
  expect((await client.get(PATH)).body.retention.announced).toEqual({ count: 0, first_at: null });
  clock.advance(2 * DAY);
  await client.post(`/api/v1/incidents/${young.id}/archive`);
  const announced = { count: 3, first_at: new Date(archivedAt + 60 * DAY).toISOString() };
  expect((await client.get(PATH)).body.retention.announced).toEqual(announced);
  // A user who may not see a restricted incident does not count it.
  const outsider = as({ user_id: 99, permissions: ['manage_settings'] });
  expect((await outsider.get(PATH)).body.retention.announced.count).toBe(2);
  await client.post(`/api/v1/incidents/${restored.id}/restore`);

  clock.advance(29 * DAY + 1);
  const statusOf = async (id: number) => (await client.get(`/api/v1/incidents/${id}`)).status;
  await eventually(async () => (await statusOf(old.id)) === 404);
  await eventually(async () => (await statusOf(secret.id)) === 404);
  expect([await statusOf(restored.id), await statusOf(young.id)]).toEqual([200, 200]);
  const deletions = () =>
    broker.published.filter(({ workspace, type }) => workspace.id === workspaceId && type === 'audit.recorded');
  await eventually(() => deletions().length === 3);
  expect(deletions().at(1)?.data.entry).toMatchObject({
    ...{ action: 'incident.deleted', actor: { type: 'user', user_id: 42 } },
    ...{ before: { reference: old.human_id }, after: { reason: 'Archived for 60 days' } },
  });
});

test('old accesses, records of alerts and entries of the audit log go, in their workspace alone', async () => {
  const [mine, other] = [newWorkspace(), newWorkspace()];
  for (const { client } of [mine, other]) {
    const secret = await client.post('/api/v1/incidents', { title: 'Secret', restricted: true });
    await client.get(`/api/v1/incidents/${secret.body.incident.id}`);
    await client.post('/api/v1/alerts', { alerts: [{ id: 'a', name: 'Down', status: 'firing' }] });
  }
  const counts = async () => {
    const count = async (table: string, { id }: { id: number }) =>
      (await database(table).where({ workspace_id: id })).length;
    const tables = ['incident_accesses', 'alert_notifications'];
    return Promise.all([mine, other].flatMap((each) => tables.map(async (table) => count(table, each))));
  };
  const before = await counts();
  expect(before.every((count) => count > 0)).toBe(true);
  const days = { access_log: 30, alert_records: 30, audit_log: 30 };
  expect((await mine.client.put(PATH, { days }, at(1))).status).toBe(200);
  clock.advance(31 * DAY);
  await eventually(async () => (await counts()).join() === [0, 0, ...before.slice(2)].join());
  await eventually(() => owners.auditDeletions.has(mine.id));
  expect(owners.auditDeletions.has(other.id)).toBe(false);
  const [time] = owners.auditDeletions.get(mine.id) ?? [];
  expect(time).toBe(new Date(Date.parse(clock.now()) - 30 * DAY).toISOString());
});
