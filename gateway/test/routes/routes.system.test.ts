import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import type { ApiDescription } from '../../src/description.ts';
import { APPS, SERVICE_NAMES } from '../../../infra/installation/apps.ts';
import { ROOT } from '../../../infra/installation/environment.ts';
import { running, runningSystem } from '../../../infra/verification/systems/running.ts';

/** Operations of the catalog; the gateway is of a release that had neither. */
const NEW_PATH = '/api/v1/services/{id}/restore';
const NEW_METHOD = { path: '/api/v1/teams/{id}', method: 'delete' };

/** The descriptions in the image of a gateway that is older than the services. */
function olderDescriptions(): Record<string, ApiDescription> {
  const read = (folder: string) =>
    JSON.parse(readFileSync(path.join(ROOT, folder, 'openapi.json'), 'utf8')) as ApiDescription;
  const all = Object.fromEntries(SERVICE_NAMES.map((name) => [name, read(APPS[name].folder)]));
  const { paths = {} } = all['catalog'] ?? {};
  expect(paths).toHaveProperty([NEW_PATH]);
  expect(paths[NEW_METHOD.path]).toHaveProperty([NEW_METHOD.method]);
  Reflect.deleteProperty(paths, NEW_PATH);
  Reflect.deleteProperty(paths[NEW_METHOD.path] ?? {}, NEW_METHOD.method);
  return all;
}

describeWithServers('a gateway that is older than a service', () => {
  const system = runningSystem(() => ({ gateway: { descriptions: olderDescriptions() } }));
  const client = running(async () => system.as());

  test('forwards to the new paths and methods of the service, which checks who may use them', async () => {
    const { team } = (await client.post('/api/v1/teams', { name: 'Payments' })).body;
    const { service } = (await client.post('/api/v1/services', { name: 'Checkout' })).body;
    await client.delete(`/api/v1/services/${service.id}`);
    const restore = `/api/v1/services/${service.id}/restore`;
    const remove = `/api/v1/teams/${team.id}`;

    const reader = await system.as({ scopes: ['services:read', 'teams:read'] });
    const viewer = await system.as({ role: 'viewer', seat: 'none' });
    for (const send of [async () => reader.post(restore), async () => reader.delete(remove)])
      expect(await send()).toMatchObject({ status: 403, body: { code: 'missing_scope' } });
    for (const send of [async () => viewer.post(restore), async () => viewer.delete(remove)])
      expect(await send()).toMatchObject({ status: 403, body: { code: 'responder_seat_required' } });
    expect((await system.anonymously().post(restore)).status).toBe(401);
    const other = await system.as({ workspace: 'initech' });
    expect((await other.post(restore)).status).toBe(404);

    expect(await client.post(restore)).toMatchObject({ status: 200, body: { service: { id: service.id } } });
    expect((await client.delete(remove)).status).toBe(200);
  });

  test('passes on what the service says of a path or a method that it does not have either', async () => {
    expect(await client.get('/api/v1/services/1/nothing')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await client.post('/api/v1/services/1/nothing', { name: 'x' })).toMatchObject({ status: 404 });
    const refused = await client.put('/api/v1/services', { name: 'x' });
    expect(refused).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } });
    expect(refused.headers.get('Allow')).toBe('GET, HEAD, POST');
    const hidden = '/api/v1/services/1/..%5C..%5C..%5C..%5Cmetrics';
    for (const outside of ['/api/v1/nothing', '/api/v1/settings/nothing', hidden])
      expect(await client.get(outside)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });
});
