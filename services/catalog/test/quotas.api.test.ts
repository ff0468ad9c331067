import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

describe.each([
  { kind: 'team', path: '/api/v1/teams' },
  { kind: 'service', path: '/api/v1/services' },
] as const)('the quota of $kinds', ({ kind, path }) => {
  const quota = `${kind}s`;
  const refused = (limit: number, subject: string) =>
    refusal(409, 'invalid_resource_state', {
      message: `The workspace may have at most ${limit} ${subject} (quota ${quota}); an administrator of the installation can change the quota`,
    });
  const workspaceWith = (limit: number | null) => {
    const { workspace } = newWorkspace();
    const withQuota = (value: number | null) => service.as({ workspace: { ...workspace, quotas: { [quota]: value } } });
    return { client: withQuota(limit), withQuota };
  };

  test('is exact for concurrent creates', async () => {
    const { client } = workspaceWith(5);
    const answers = await Promise.all(Array.from({ length: 20 }, async () => client.post(path, { name: 'x' })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(answer).toMatchObject(refused(5, `active ${kind}s`));
    }
    const { body } = await client.get(path);
    expect(body[`${kind}s`]).toHaveLength(5);
  });

  test('counts the active ones, and a restoration needs room', async () => {
    const { client } = workspaceWith(2);
    const first = await create(client, kind, { name: 'first' });
    await create(client, kind, { name: 'second' });
    expect((await client.delete(`${path}/${first.id}`)).status).toBe(200);
    await create(client, kind, { name: 'third' });
    expect(await client.post(`${path}/${first.id}/restore`)).toMatchObject(refused(2, `active ${kind}s`));
    expect((await client.get(`${path}/${first.id}`)).body[kind]).toMatchObject({ revision: 2 });
  });

  test('bounds all of them with the archived ones', async () => {
    const { client } = workspaceWith(2);
    for (let number = 0; number < 8; number += 1) {
      const { id } = await create(client, kind, { name: 'x' });
      expect((await client.delete(`${path}/${id}`)).status).toBe(200);
    }
    expect(await client.post(path, { name: 'x' })).toMatchObject(refused(8, `${kind}s with the archived ones`));
  });

  test('that is lowered below the present number refuses new ones only', async () => {
    const { client, withQuota } = workspaceWith(null);
    const items = [];
    for (const name of ['a', 'b', 'c']) items.push(await create(client, kind, { name }));
    const limited = withQuota(1);
    expect(await limited.post(path, { name: 'd' })).toMatchObject(refused(1, `active ${kind}s`));
    const change = { description: 'changed' };
    expect((await limited.patch(`${path}/${items[0].id}`, change, { 'If-Service-Resource-Version': '1' })).status).toBe(
      200,
    );
    expect((await limited.delete(`${path}/${items[1].id}`)).status).toBe(200);
    expect((await limited.get(path)).body[`${kind}s`]).toHaveLength(2);
    expect((await withQuota(3).post(path, { name: 'd' })).status).toBe(201);
  });

  test('is not shared with other workspaces', async () => {
    const [one, other] = [workspaceWith(1), workspaceWith(1)];
    await create(one.client, kind, { name: 'x' });
    expect((await one.client.post(path, { name: 'y' })).status).toBe(409);
    expect((await other.client.post(path, { name: 'x' })).status).toBe(201);
  });

  test('has a default', async () => {
    const { workspace } = newWorkspace();
    const limit = { team: 5_000, service: 10_000 }[kind];
    const common = `workspace_id, revision, name, sort_name, slug, created_at, updated_at, version`;
    const values = `${workspace.id}, 1, 'x', 'x', 'x_' || n, now(), now(), n`;
    const statement =
      kind === 'team'
        ? `insert into teams (${common}) select ${values}`
        : `insert into services (${common}, tier, tags, observability_names) select ${values}, 't2', '{}', '{}'`;
    await service.knex.raw(`${statement} from generate_series(1, ${limit - 1}) as n`);
    const client = service.as({ workspace });
    expect((await client.post(path, { name: 'last' })).status).toBe(201);
    expect(await client.post(path, { name: 'one more' })).toMatchObject(refused(limit, `active ${kind}s`));
  });
});
