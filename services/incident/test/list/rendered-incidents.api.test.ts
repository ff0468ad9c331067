import { expect, test } from '@jest/globals';
import { freshWorkspace } from '../fields.ts';
import { setClock } from './population.ts';
import { serviceForFile } from '../service.ts';

const NOW = '2026-11-20T12:00:00.000Z';
const HOUR_LATER = '2026-11-20T13:00:00.000Z';
const LIST = '/api/v1/incidents';
const clock = setClock(NOW);
const service = await serviceForFile({ clock });
const { knex: database } = service;

/** A workspace with an incident that was listed before, and what the list and a read show of it. */
async function listed(properties: object = {}) {
  clock.set(NOW);
  const { client } = freshWorkspace(service);
  const { body } = await client.post(LIST, { title: 'x', ...properties });
  const path = `${LIST}/${body.incident.id}`;
  const shown = async () => {
    const { incidents } = (await client.get(LIST)).body;
    const { incident } = (await client.get(path)).body;
    expect(incidents).toEqual([incident]);
    return incident;
  };
  return { client, path, shown, before: await shown() };
}

test('a list shows a change that raised no revision', async () => {
  const { shown, before } = await listed();
  await database('incidents').where({ id: before.id }).update({ run_count: 1 });
  expect(await shown()).toEqual({ ...before, investigation_summary: { run_count: 1, latest_run: null } });
});

test('the duration of an open incident goes on, whatever texts it has', async () => {
  const { client, path, shown, before } = await listed({ title: 'says "duration_seconds":7,' });
  clock.set(HOUR_LATER);
  expect(await shown()).toEqual({ ...before, duration_seconds: 3_600 });
  await client.post(`${path}/resolve`, {});
  const resolved = await shown();
  clock.set('2026-11-20T14:00:00.000Z');
  expect(await shown()).toEqual(resolved);
});

test('an incident that changes while a page is read is shown as the filter says, or not at all', async () => {
  clock.set(NOW);
  const { client, declare } = freshWorkspace(service);
  const paths = await Promise.all(Array.from({ length: 20 }, async () => declare()));
  const changes = Array.from({ length: 5 }, (_, index) => index);
  const change = async (path: string) => {
    for (const index of changes) {
      const severity = index % 2 === 0 ? 'sev1' : 'sev2';
      await client.patch(path, { severity }, { 'If-Service-Resource-Version': String(index + 1) });
    }
  };
  const pages = async () => {
    for (let read = 0; read < 30; read += 1) {
      const { incidents } = (await client.get(`${LIST}?severity=sev1`)).body as { incidents: { severity: string }[] };
      expect(incidents.filter(({ severity }) => severity !== 'sev1')).toEqual([]);
    }
  };
  await Promise.all([...paths.map(change), pages(), pages()]);
  expect((await client.get(`${LIST}?severity=sev1`)).body.incidents).toHaveLength(20);
});
