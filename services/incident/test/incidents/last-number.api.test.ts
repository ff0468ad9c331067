import { expect, test } from '@jest/globals';
import { INTERNAL_PATHS, lastIncidentNumber } from '@tocsin/schemas';
import { asService, asUser, httpClient } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();

const path = (workspaceId: number) => `${INTERNAL_PATHS.lastIncidentNumber}?workspace_id=${workspaceId}`;

const ask = async (workspaceId: number) => {
  const { status, body } = await httpClient(service.app.url, asService('webhook', 'incident')).get(path(workspaceId));
  expect(status).toBe(200);
  return lastIncidentNumber.parse(body).number;
};

test('the number is that of the latest committed incident of the workspace', async () => {
  expect(await ask(1)).toBe(0);
  const client = service.as({ workspace: { id: 1, slug: 'acme' } });
  for (const number of [1, 2]) {
    const { body } = await client.post('/api/v1/incidents', { title: 'Down' });
    expect(body.incident.human_id).toBe(`INC-${number}`);
    expect(await ask(1)).toBe(number);
  }
  expect((await client.post('/api/v1/incidents', { title: 'Down', severity: 'none' })).status).toBe(400);
  expect(await ask(1)).toBe(2);
  expect(await ask(2)).toBe(0);
});

test('only services may call the route', async () => {
  expect((await httpClient(service.app.url).get(path(1))).status).toBe(401);
  expect((await httpClient(service.app.url, asUser('incident')).get(path(1))).status).toBe(401);
});
