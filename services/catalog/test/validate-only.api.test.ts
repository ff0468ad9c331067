import { describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

describe.each(['service', 'team'])('a new %s that is only validated', (kind) => {
  const path = `/api/v1/${kind}s`;

  test('is shown without its ID, leaves its slug free, and announces no version', async () => {
    const user = newWorkspace();
    const client = service.as(user);
    const request = { name: 'Checkout', slug: 'checkout' };
    const dry = await client.post(`${path}?validate_only=true`, request);
    expect(dry).toMatchObject({ status: 201, body: { [kind]: { id: null, slug: 'checkout', revision: 1 } } });
    expect(await service.versions.read(['catalog'], user.workspace.id)).toEqual([undefined]);
    expect((await client.get(path)).body[`${kind}s`]).toEqual([]);
    const real = await client.post(path, request);
    expect(real.status).toBe(201);
    const again = await client.post(`${path}?validate_only=true`, request);
    expect(again).toMatchObject(refusal(409, 'duplicate_slug', { field: 'slug' }));
  });
});
