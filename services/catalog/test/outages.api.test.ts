import { describe, expect, test } from '@jest/globals';
import type { Versions } from '@tocsin/runtime';
import { eventually, tcpProxy, type TcpProxy } from '@tocsin/testing';
import { create, newWorkspace, startService, type TestService } from './service.ts';

/** A service of its own: what breaks in one test would be felt in the next. */
async function withService<Result>(
  work: (service: TestService) => Promise<Result>,
  ...parts: Parameters<typeof startService>
): Promise<Result> {
  const service = await startService(...parts);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

describe('unmanaged references', () => {
  const reference = (value: string, incident_count = 1) => ({ value, incident_count });

  test('come with the first page, as the incident service tells them', async () =>
    withService(async (service) => {
      const user = newWorkspace();
      const client = service.as(user);
      for (const name of ['a', 'b']) await create(client, 'service', { name });
      const references = [reference('legacy', 7), reference('Zahlung', 2), reference('x')];
      service.neighbours.references.set(user.workspace.id, { references, truncated: true });
      const first = await client.get('/api/v1/services?limit=1');
      expect(first.body).toMatchObject({ unmanaged_references: references, unmanaged_references_truncated: true });
      const second = await client.get(`/api/v1/services?limit=1&cursor=${first.body.pagination.next_cursor}`);
      expect(second.body).toMatchObject({ unmanaged_references: [], unmanaged_references_truncated: false });
      expect(service.neighbours.asked.get('/internal/unmanaged-references')).toBe(1);
      expect((await service.as(newWorkspace()).get('/api/v1/services')).body).toMatchObject({
        services: [],
        unmanaged_references: [],
        unmanaged_references_truncated: false,
      });
    }));

  test('are never services of the catalog, archived ones included, however late the other side is', async () =>
    withService(async (service) => {
      const user = newWorkspace();
      const client = service.as(user);
      const { id } = await create(client, 'service', { name: 'old' });
      await client.delete(`/api/v1/services/${id}`);
      const references = [reference('new', 3), reference('old', 2), reference('New', 2), reference('other')];
      service.neighbours.references.set(user.workspace.id, { references, truncated: false });
      await create(client, 'service', { name: 'new' });
      expect((await client.get('/api/v1/services')).body.unmanaged_references).toEqual([
        reference('New', 2),
        reference('other'),
      ]);
    }));

  test.each(['down', 'silent'] as const)(
    'the incident service %s: the page comes without them and says so',
    async (how) =>
      withService(async (service) => {
        const user = newWorkspace();
        const client = service.as(user);
        const made = await create(client, 'service', { name: 'a' });
        service.neighbours.references.set(user.workspace.id, { references: [reference('x')], truncated: false });
        service.neighbours[how] = true;
        for (let time = 0; time < 6; time += 1) {
          expect(await client.get('/api/v1/services')).toMatchObject({
            status: 200,
            body: { services: [made], unmanaged_references: [], unmanaged_references_truncated: true },
          });
        }
        // After a few in vain it is left alone for a while.
        const asked = service.neighbours.asked.get('/internal/unmanaged-references') ?? 0;
        expect(asked).toBeLessThan(6);
        service.neighbours[how] = false;
        await eventually(
          async () => (await client.get('/api/v1/services')).body.unmanaged_references_truncated === false,
          { what: 'the references' },
        );
      }),
  );
});

describe('the gateway', () => {
  test.each(['down', 'silent'] as const)('%s: members are judged and shown as they were last known', async (how) =>
    withService(async (service) => {
      const user = newWorkspace();
      const { id: workspaceId } = user.workspace;
      const as = (version: number) => service.as({ workspace: { ...user.workspace, version } });
      const [known, unknown] = [workspaceId * 10 + 1, workspaceId * 10 + 2];
      const before = service.neighbours.setUser(workspaceId, { id: known });
      const { id } = await create(as(before), 'team', { name: 't' });
      const path = `/api/v1/teams/${id}`;
      await as(before).post(`${path}/members`, { user_id: known });

      service.neighbours[how] = true;
      service.neighbours.setUser(workspaceId, { id: unknown });
      const now = as(service.neighbours.setUser(workspaceId, { id: known, active: false }));
      expect((await now.get(path)).body.team.member_count).toBe(1);
      expect((await now.get(`${path}/members`)).body.members).toHaveLength(1);
      expect(await now.post(`${path}/members`, { user_id: unknown })).toMatchObject({
        status: 400,
        body: { field: 'user_id' },
      });
      expect((await now.patch(`${path}/members/${known}`, { role: 'lead' })).status).toBe(200);
      expect((await now.delete(`${path}/members/${known}`)).status).toBe(204);
      expect((await now.post(`${path}/members`, { user_id: known })).status).toBe(201);

      service.neighbours[how] = false;
      await eventually(async () => (await now.get(path)).body.team.member_count === 0, { what: 'the news' });
      expect((await now.post(`${path}/members`, { user_id: unknown })).status).toBe(201);
    }),
  );
});

describe('the store of versions', () => {
  test('gone: what is committed is answered all the same', async () => {
    const gone = async () => Promise.reject(new Error('no versions today'));
    const versions: Versions = { raise: gone, read: gone };
    await withService(
      async (service) => {
        const client = service.as(newWorkspace());
        const team = await create(client, 'team', { name: 't' });
        expect((await client.delete(`/api/v1/teams/${team.id}`)).status).toBe(200);
        expect((await client.get('/api/v1/services')).status).toBe(200);
      },
      { versions },
    );
  });
});

describe('the database', () => {
  test('gone: 503 with Retry-After and unready, until it is back', async () => {
    let proxy: TcpProxy | undefined;
    const reach = async (url: string) => (proxy = await tcpProxy(url)).url;
    try {
      await withService(losesItsDatabase, {}, reach);
    } finally {
      await proxy?.close();
    }

    async function losesItsDatabase(service: TestService): Promise<void> {
      const client = service.as(newWorkspace());
      const made = await create(client, 'team', { name: 't' });
      proxy?.cut();
      const answers = await Promise.all([
        client.get(`/api/v1/teams/${made.id}`),
        client.get('/api/v1/services'),
        client.post('/api/v1/services', { name: 's' }, { 'Idempotency-Key': 'k' }),
        client.delete(`/api/v1/teams/${made.id}`),
      ]);
      for (const answer of answers) {
        expect(answer).toMatchObject({ status: 503, body: { code: 'service_unavailable' } });
        expect(answer.headers.get('Retry-After')).toBe('1');
      }
      expect((await client.get('/readyz')).status).toBe(503);
      proxy?.mend();
      await eventually(async () => (await client.get('/readyz')).status === 200, { what: 'readiness' });
      expect((await client.get(`/api/v1/teams/${made.id}`)).body.team).toStrictEqual(made);
      expect((await client.post('/api/v1/services', { name: 's' }, { 'Idempotency-Key': 'k' })).status).toBe(201);
    }
  });
});
