import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { create, newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

const key = (value: string) => ({ 'Idempotency-Key': value });

describe.each(['service', 'team'])('the Idempotency-Key of a new %s', (kind) => {
  const path = `/api/v1/${kind}s`;

  test('lets one of twenty equal requests create and replays its response byte for byte', async () => {
    const client = service.as(newWorkspace());
    const send = async () => client.post(path, { name: 'once', description: 'd' }, key('k-1'));
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const made = answers.filter(({ status }) => status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const { status, body, headers } of answers) {
      if (status === 201) continue;
      expect(body.code).toBe('idempotency_in_progress');
      expect(headers.get('Retry-After')).toBe('1');
    }
    const replay = await send();
    expect(replay).toMatchObject({ status: 201, text: made[0]?.text });
    expect(replay.headers.get('Idempotency-Replayed')).toBe('true');
    expect(replay.headers.get('Service-Resource-Version')).toBe('1');
    expect((await client.get(path)).body[`${kind}s`]).toStrictEqual([replay.body[kind]]);
    expect(await client.post(path, '{"name":"once", "description":"d"}', key('k-1'))).toMatchObject(
      refusal(409, 'idempotency_key_reused'),
    );
  });

  test('replays the original response, whatever changed since', async () => {
    const client = service.as(newWorkspace());
    const first = await client.post(path, { name: 'a' }, key('k'));
    await client.delete(`${path}/${first.body[kind].id}`);
    expect((await client.post(path, { name: 'a' }, key('k'))).text).toBe(first.text);
  });

  test('never finds the slug or the quota of its own first request', async () => {
    const { workspace } = newWorkspace();
    const client = service.as({ workspace: { ...workspace, quotas: { [`${kind}s`]: 1 } } });
    const send = async () => client.post(path, { name: 'a', slug: 'wanted' }, key('k'));
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    const first = answers.find(({ status }) => status === 201);
    for (const { status, text, body } of answers) {
      if (status === 201) expect(text).toBe(first?.text);
      else expect(body.code).toBe('idempotency_in_progress');
    }
    expect(await send()).toMatchObject({ status: 201, text: first?.text });
    expect(await client.post(path, { name: 'a', slug: 'wanted' }, key('other'))).toMatchObject({ status: 409 });
    expect((await client.get(path)).body[`${kind}s`]).toHaveLength(1);
  });

  test('is in progress while another transaction has it, and nobody waits', async () => {
    const { workspace } = newWorkspace();
    const client = service.as({ workspace });
    await client.post(path, { name: 'first' });
    const send = async () => client.post(path, { name: 'a' }, key('k'));
    let first: ReturnType<typeof send> | undefined;
    await service.knex.transaction(async (trx) => {
      await trx('workspace_versions').where({ workspace_id: workspace.id }).forUpdate().select('version');
      first = send();
      const waits = async () => {
        const { rows } = await service.knex.raw(
          `select 1 from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and usename = current_user`,
        );
        return rows.length > 0;
      };
      await eventually(waits, { what: 'the wait for the version' });
      expect(await send()).toMatchObject(refusal(409, 'idempotency_in_progress'));
    });
    expect(await first).toMatchObject({ status: 201 });
  });

  test('can be used again after an invalid request, and replays a conflict', async () => {
    const client = service.as(newWorkspace());
    const field = kind === 'service' ? 'owner_team_id' : 'parent_team_id';
    expect((await client.post(path, { name: '' }, key('k'))).status).toBe(400);
    expect((await client.post(path, { name: 'n', [field]: 999_999 }, key('k'))).status).toBe(400);
    expect((await client.post(path, { name: '42' }, key('k'))).body.field).toBe('slug');
    expect((await client.post(path, { name: 'n', slug: 'wanted' }, key('k'))).status).toBe(201);
    const conflict = await client.post(path, { name: 'o', slug: 'wanted' }, key('other'));
    expect(conflict).toMatchObject(refusal(409, 'duplicate_slug'));
    const replay = await client.post(path, { name: 'o', slug: 'wanted' }, key('other'));
    expect(replay.body).toEqual({ ...conflict.body, request_id: expect.any(String) });
    expect(replay.body.request_id).not.toBe(conflict.body.request_id);
    expect(replay.headers.get('Idempotency-Replayed')).toBe('true');
  });

  test('belongs to the workspace, the user and the endpoint', async () => {
    const user = newWorkspace();
    const first = await create(service.as(user), kind as 'team', { name: 'seen' });
    const answers = await Promise.all([
      service.as(user).post(path, { name: 'x' }, key('shared')),
      service.as({ ...user, user_id: 43 }).post(path, { name: 'y' }, key('shared')),
      service.as(newWorkspace()).post(path, { name: 'z' }, key('shared')),
      service
        .as(user)
        .post(path === '/api/v1/teams' ? '/api/v1/services' : '/api/v1/teams', { name: 'x' }, key('shared')),
      // A restoration has no Idempotency-Key and ignores the header.
      service.as(user).post(`${path}/${first.id}/restore`, {}, key('é'.repeat(1))),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 409]);
    expect(answers[4].body.code).toBe('invalid_resource_state');
  });

  test.each([' ', 'a b', 'x'.repeat(129), 'é'])('%j is invalid', async (value) => {
    const client = service.as(newWorkspace());
    const answer = await client.post(path, { name: 1 }, key(value));
    // Blanks around a header's value are not part of it, so a blank value is empty.
    expect(answer).toMatchObject(refusal(400, 'invalid_idempotency_key', { field: 'Idempotency-Key' }));
  });
});
