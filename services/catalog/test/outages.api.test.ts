import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { create, newWorkspace, startService, type TestService } from './service.ts';

/** Runs a test on its own service, because open circuit breakers would affect the next test. */
async function withService<Result>(work: (service: TestService) => Promise<Result>): Promise<Result> {
  const service = await startService();
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

describe('unmanaged references', () => {
  const reference = (value: string, incident_count = 1) => ({ value, incident_count });

  test('are on the first page, as the incident service returns them', async () =>
    withService(async (service) => {
      const user = newWorkspace();
      const client = service.as(user);
      for (const name of ['a', 'b']) await create(client, 'service', { name });
      const references = [reference('legacy', 7), reference('Zahlung', 2), reference('x')];
      service.internalServices.references.set(user.workspace.id, { references, truncated: true });
      const first = await client.get('/api/v1/services?limit=1');
      expect(first.body).toMatchObject({ unmanaged_references: references, unmanaged_references_truncated: true });
      const second = await client.get(`/api/v1/services?limit=1&cursor=${first.body.pagination.next_cursor}`);
      expect(second.body).toMatchObject({ unmanaged_references: [], unmanaged_references_truncated: false });
      expect(service.internalServices.requestCounts.get('/internal/unmanaged-references')).toBe(1);
      expect((await service.as(newWorkspace()).get('/api/v1/services')).body).toMatchObject({
        services: [],
        unmanaged_references: [],
        unmanaged_references_truncated: false,
      });
    }));

  test('never include services of the catalog, archived ones included, even if the incident service is behind', async () =>
    withService(async (service) => {
      const user = newWorkspace();
      const client = service.as(user);
      const { id } = await create(client, 'service', { name: 'old' });
      await client.delete(`/api/v1/services/${id}`);
      const references = [reference('new', 3), reference('old', 2), reference('New', 2), reference('other')];
      service.internalServices.references.set(user.workspace.id, { references, truncated: false });
      await create(client, 'service', { name: 'new' });
      expect((await client.get('/api/v1/services')).body.unmanaged_references).toEqual([
        reference('New', 2),
        reference('other'),
      ]);
    }));

  test.each(['down', 'silent'] as const)(
    'are empty and marked as truncated while the incident service is %s',
    async (failure) =>
      withService(async (service) => {
        const user = newWorkspace();
        const client = service.as(user);
        const made = await create(client, 'service', { name: 'a' });
        service.internalServices.references.set(user.workspace.id, { references: [reference('x')], truncated: false });
        service.internalServices[failure] = true;
        for (let time = 0; time < 6; time += 1) {
          expect(await client.get('/api/v1/services')).toMatchObject({
            status: 200,
            body: { services: [made], unmanaged_references: [], unmanaged_references_truncated: true },
          });
        }
        // The circuit breaker opens after a few failures.
        const requests = service.internalServices.requestCounts.get('/internal/unmanaged-references') ?? 0;
        expect(requests).toBeLessThan(6);
        service.internalServices[failure] = false;
        await eventually(
          async () => (await client.get('/api/v1/services')).body.unmanaged_references_truncated === false,
          { what: 'the references' },
        );
      }),
  );
});

describe('the gateway', () => {
  test.each(['down', 'silent'] as const)(
    'being %s: members are checked and shown as the replica has them',
    async (failure) =>
      withService(async (service) => {
        const user = newWorkspace();
        const { id: workspaceId } = user.workspace;
        const as = (version: number) => service.as({ workspace: { ...user.workspace, version } });
        const [replicated, missing] = [workspaceId * 10 + 1, workspaceId * 10 + 2];
        const before = service.internalServices.setUser(workspaceId, { id: replicated });
        const { id } = await create(as(before), 'team', { name: 't' });
        const path = `/api/v1/teams/${id}`;
        await as(before).post(`${path}/members`, { user_id: replicated });

        service.internalServices[failure] = true;
        service.internalServices.setUser(workspaceId, { id: missing });
        const now = as(service.internalServices.setUser(workspaceId, { id: replicated, active: false }));
        expect((await now.get(path)).body.team.member_count).toBe(1);
        expect((await now.get(`${path}/members`)).body.members).toHaveLength(1);
        // The user may be new, so the request is not refused as invalid.
        expect(await now.post(`${path}/members`, { user_id: missing })).toMatchObject(
          refusal(503, 'service_unavailable'),
        );
        expect((await now.patch(`${path}/members/${replicated}`, { role: 'lead' })).status).toBe(200);
        expect((await now.delete(`${path}/members/${replicated}`)).status).toBe(204);
        expect((await now.post(`${path}/members`, { user_id: replicated })).status).toBe(201);

        service.internalServices[failure] = false;
        await eventually(async () => (await now.get(path)).body.team.member_count === 0, {
          what: 'the change of the user',
        });
        expect((await now.post(`${path}/members`, { user_id: missing })).status).toBe(201);
      }),
  );
});
