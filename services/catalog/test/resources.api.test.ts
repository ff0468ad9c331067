import { expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { describeResource } from '@tocsin/testing/resource-suite';
import { create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

for (const one of ['service', 'team']) {
  const quota = { name: `${one}s`, subject: `${one}s`, refused: [409, 'invalid_resource_state'] as [number, string] };
  describeResource({ service, path: `/api/v1/${one}s`, one, many: `${one}s`, newUser: () => newWorkspace(), quota });
}

test.each([
  ['team', 5_000, '', ''],
  ['service', 10_000, ', tier, tags, observability_names', `, 't2', '{}', '{}'`],
] as const)('the quota of %ss is %d by default', async (kind, limit, columns, values) => {
  const { workspace } = newWorkspace();
  await service.knex.raw(
    `insert into ${kind}s (workspace_id, revision, name, sort_name, slug, created_at, updated_at, version${columns})
     select ${workspace.id}, 1, 'x', 'x', 'x_' || n, now(), now(), n${values} from generate_series(1, ${limit - 1}) as n`,
  );
  const client = service.as({ workspace });
  await create(client, kind, { name: 'last' });
  expect(await client.post(`/api/v1/${kind}s`, { name: 'one more' })).toMatchObject(
    refusal(409, 'invalid_resource_state', { message: expect.stringContaining(`at most ${limit} active ${kind}s`) }),
  );
});

test('a team and a service may have the same external ID', async () => {
  const client = service.as(newWorkspace());
  for (const kind of ['team', 'service'] as const) await create(client, kind, { name: 'x', external_id: 'x' });
});

test('a change that is only validated announces no version', async () => {
  const user = newWorkspace();
  await service.as(user).post('/api/v1/teams?validate_only=true', { name: 'x' });
  expect(await service.versions.read(['catalog'], user.workspace.id)).toEqual([undefined]);
});
