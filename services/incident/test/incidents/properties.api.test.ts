import { expect, test } from '@jest/globals';
import { eventually, ONE_PIXEL, patchEachProperty } from '@tocsin/testing';
import { timelineEventPatch } from '../../src/timeline/http/wire.ts';
import { incidentPatch } from '../../src/incidents/http/wire.ts';
import { configure } from '../configure.ts';
import { RecordingBroker } from '../fakes/recording-broker.ts';
import { serviceForFile } from '../service.ts';
import { aTeam, aUser } from '../snapshots.ts';
import { anItem, transferOf } from '../transfer/transfer.ts';

const broker = new RecordingBroker();
const service = await serviceForFile({ broker });

const published = async (type: string, matches: (data: Record<string, Record<string, unknown>>) => boolean) =>
  eventually(() => broker.published.find((event) => event.type === type && matches(event.data)), { what: type });

test('each property of an incident that is changed alone comes back, in the changelog and the event, too', async () => {
  await service.owners.change(1, (data) => {
    data.teams = [aTeam(1)];
    data.users = [aUser(7)];
  });
  const client = service.as({ workspace: { version: 1 } });
  await configure(service.knex, 1, { incident_roles: [{ key: 'scribe', label: 'Scribe' }] });
  const { body } = await client.get('/api/v1/configuration/severities');
  const { body: configured } = await client.get('/api/v1/configuration/workflow-statuses');
  const keys = [...body.severities, ...configured.workflow_statuses].map(({ key }: { key: string }) => key);
  const patched = await patchEachProperty({
    client,
    schema: incidentPatch,
    values: ['7', ['7'], { users: [7], teams: [] }, { scribe: ['7'] }, ...keys],
    create: async () =>
      `/api/v1/incidents/${(await client.post('/api/v1/incidents', { title: 'x' })).body.incident.id}`,
  });
  for (const { name, value, path, before, after } of patched) {
    expect([name, after]).toEqual([name, expect.objectContaining({ [name]: value, revision: before.revision + 1 })]);
    expect((await client.get(path)).body.incident).toMatchObject({ [name]: value });
    const change =
      name === 'roles'
        ? { field: 'roles.scribe', from: [], to: ['7'] }
        : { field: name, from: before[name], to: value };
    const { changelog } = (await client.get(`${path}/changelog`)).body;
    expect(changelog).toMatchObject([{ changes: expect.arrayContaining([change]) }]);
    const event = await published('incident.updated', ({ incident }) => incident?.['id'] === after['id']);
    expect(event.data.changes).toContainEqual(change);
    expect([name, event.data.incident[name]]).toEqual([name, value]);
  }
});

test('people that an incident has may stay or go, whatever has become of them, and new ones are checked', async () => {
  const workspace = {
    id: 2,
    version: await service.owners.change(2, (data) => void (data.users = [aUser(42, 'Ana'), aUser(43, 'Cy')])),
  };
  await service.owners.change(2, (data) => void (data.teams = [aTeam(2, { slug: 'payments' })]));
  const client = service.as({ workspace });
  const { results } = transferOf(client);
  const [{ incident_id: id }] = await results(
    anItem('214', {
      ...{ team: 'payments', service: 'Straße', regions: ['EU', 'us'], meet_url: 'https://meet.example/1' },
      people: {
        manager: { name: 'Ben <b' },
        responders: [
          { name: 'Cy', email: 'cy@acme.example' },
          { name: 'Di', email: 'di@old.example' },
          { name: 'Eve' },
        ],
      },
    }),
  );
  const version = await service.owners.change(2, (data) => {
    data.teams = [aTeam(2, { slug: 'payments', revision: 2, archived_at: '2026-11-01T00:00:00.000Z' })];
    data.users = data.users.map((user) => ({ ...user, active: user.id === 42 }));
  });
  const present = service.as({ workspace: { id: 2, version } });
  const path = `/api/v1/incidents/${id}`;
  const patch = async (change: object) => present.patch(path, change, { 'If-Service-Resource-Version': '1' });
  const { incident } = (await present.get(path)).body;
  expect(incident.incident_responders).toEqual(['43', 'Di <di@old.example>', 'Eve']);
  const asked = { incident_responders: ['Eve', '42', '43', 'Fay', '44'] };
  expect((await patch(asked)).body).toMatchObject({ field: 'incident_responders.3', message: "Must be a user's ID" });
  const leavers = { incident_responders: ['Eve', '42', '44'] };
  expect((await patch(leavers)).body).toMatchObject({
    ...{ field: 'incident_responders.2', message: 'Must be an active user of the workspace' },
  });
  expect((await patch({ incident_manager: 'Eve' })).body.field).toBe('incident_manager');
  const changed = await patch({ incident_manager: '', incident_responders: ['Eve', '42', '43'] });
  expect(changed.body.incident).toMatchObject({ revision: 2, incident_responders: ['Eve', '42', '43'] });
});

test('each property of a timeline event that is changed alone comes back, in its event, too', async () => {
  const client = service.as();
  const { incident } = (await client.post('/api/v1/incidents', { title: 'x' })).body;
  const { knex: database } = service;
  await configure(database, 1, { timeline_groups: [{ id: 2, name: 'Comms' }] });
  const event = { body: 'x', started_at: '2026-11-20T09:00:00.000Z' };
  const uploaded = await client.post(`/api/v1/incidents/${incident.id}/pictures`, ONE_PIXEL, {
    'Content-Type': 'image/png',
  });
  const pictures = [uploaded.body.picture.id as number];
  const patched = await patchEachProperty({
    client,
    schema: timelineEventPatch,
    values: [[{ source: 'person', url: 'https://other.example/', label: 'Graph' }], pictures],
    create: async () => {
      const { body } = await client.post(`/api/v1/incidents/${incident.id}/timeline`, event);
      return `/api/v1/timeline/${body.event.id}`;
    },
  });
  for (const { name, value, path, before, after } of patched) {
    // A request has their IDs.
    const isFiles = name === 'attachments';
    const shown = isFiles ? pictures.map((id): unknown => expect.objectContaining({ id })) : value;
    expect([name, after]).toEqual([name, expect.objectContaining({ [name]: shown, revision: before.revision + 1 })]);
    expect((await client.get(path)).body.event).toMatchObject({ [name]: shown });
    const { data } = await published(
      'timeline_event.updated',
      ({ timeline_event }) => timeline_event?.['id'] === after['id'],
    );
    // Deprecated names and files are not in events.
    const isDeprecated = timelineEventPatch.shape[name as 'at'].meta()?.deprecated === true;
    if (!isDeprecated && !isFiles) expect([name, data.timeline_event[name]]).toEqual([name, value]);
  }
});

test('the service is measured as it is stored, and what is stored can be written again', async () => {
  const client = service.as({ workspace: { id: 3 } });
  const { results } = transferOf(client);
  const cases = [
    { given: `${'e\u0301'.repeat(64)}a`, stored: `${'é'.repeat(64)}a` },
    { given: '\u03b1\u0313\u0301\u0345'.repeat(128), stored: '\u1f84'.repeat(128) },
    { given: '😀'.repeat(128), stored: '😀'.repeat(128) },
    // NFC makes two characters of it.
    { given: '\u0958'.repeat(64), stored: '\u0915\u093c'.repeat(64) },
    { given: '\u0958'.repeat(65), stored: undefined },
    { given: 'x'.repeat(129), stored: undefined },
  ];
  for (const [index, { given, stored }] of cases.entries()) {
    const { status, body } = await client.post('/api/v1/incidents', { title: 'x', service: given });
    const [imported] = await results(anItem(`nfc-${index}`, { service: given }));
    if (stored === undefined) {
      expect([status, body.field]).toEqual([400, 'service']);
      expect(imported).toMatchObject({ outcome: 'refused', field: 'service' });
      continue;
    }
    expect([status, body.incident?.service, imported.outcome]).toEqual([201, stored, 'created']);
    const path = `/api/v1/incidents/${body.incident.id}`;
    const again = await client.patch(path, { service: stored }, { 'If-Service-Resource-Version': '1' });
    expect([again.status, again.body.incident.revision]).toEqual([200, 1]);
  }
});
