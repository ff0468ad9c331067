import { afterAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { AuditEntryWire } from '../src/http/audit-wire.ts';
import { startGatewayHarness } from './gateway-harness.ts';
import { at, KEYS, memberOf, USERS } from './members.ts';

const AUDIT_LOG = '/api/v1/settings/audit-log';

const gateway = await startGatewayHarness({ env: { RATE_LIMIT_PER_MINUTE: '100000' } });
const owner = await memberOf(gateway, { role: 'owner' });
afterAll(async () => gateway.close());

const list = async (query = '', { client } = owner): Promise<AuditEntryWire[]> => {
  const { status, body } = await client.get(`${AUDIT_LOG}?limit=100${query}`);
  expect(status).toBe(200);
  return body.entries;
};

/** Waits until the log has this many entries about something, the newest first. */
const about = async (type: string, id: number, count: number): Promise<AuditEntryWire[]> =>
  eventually(async () => {
    const entries = (await list()).filter(({ target }) => target.type === type && target.id === String(id));
    return entries.length >= count ? entries : undefined;
  });

describe('the audit log', () => {
  test('has who changed a user, when, and the states before and after', async () => {
    const { body: created } = await owner.client.post(USERS, { email: 'audited@acme.example', name: 'Audited' });
    await owner.client.patch(`${USERS}/${created.user.id}`, { role: 'manager' }, at(1));
    await owner.client.patch(`${USERS}/${created.user.id}`, { role: 'manager' }, at(2));
    const entries = await about('user', created.user.id, 2);
    const state = { email: 'audited@acme.example', name: 'Audited', role: 'member', seat: 'none', active: true };
    const actor = { type: 'user', user_id: owner.user.id, api_key_prefix: owner.key.shown };
    expect(entries).toEqual([
      expect.objectContaining({ action: 'user.updated', actor, before: state, after: { ...state, role: 'manager' } }),
      expect.objectContaining({ action: 'user.created', actor, before: null, after: state }),
    ]);
    expect(entries[1]?.occurred_at).toBe(created.user.created_at);
  });

  test('has the whole life of a key, and no token', async () => {
    const { body: made } = await owner.client.post(KEYS, { name: 'audited', scopes: ['incidents:read'] });
    const { body: rotated } = await owner.client.post(`${KEYS}/${made.api_key.id}/rotate`, { overlap_hours: 1 });
    await owner.client.post(`${KEYS}/${rotated.api_key.id}/revoke`);
    await owner.client.post(`${KEYS}/${rotated.api_key.id}/revoke`);
    const actions = async (id: number, count: number) =>
      (await about('api_key', id, count)).map(({ action }) => action);
    expect(await actions(made.api_key.id, 2)).toEqual(['api_key.rotated', 'api_key.created']);
    expect(await actions(rotated.api_key.id, 2)).toEqual(['api_key.revoked', 'api_key.created']);
    const text = JSON.stringify(await list());
    expect(text).not.toContain(made.token);
    expect(text).not.toContain(rotated.token);
  });

  test('has what an operator did', async () => {
    const user = await gateway.admin.createUser({ workspace: 'acme', email: 'by-operator@acme.example', name: 'O' });
    expect(await about('user', user.id, 1)).toEqual([
      expect.objectContaining({
        action: 'user.created',
        actor: { type: 'operator', user_id: null, api_key_prefix: null },
      }),
    ]);
  });

  test('has nothing about a change that was refused', async () => {
    const { body } = await owner.client.post(USERS, { email: 'refused@acme.example', name: 'R' });
    expect((await owner.client.patch(`${USERS}/${body.user.id}`, { name: 'S' }, at(7))).status).toBe(412);
    await owner.client.patch(`${USERS}/${body.user.id}`, { name: 'T' }, at(1));
    const entries = await about('user', body.user.id, 2);
    expect(entries.map(({ after }) => after?.['name'])).toEqual(['T', 'R']);
  });

  test('is filtered by actor, action and time, and read page by page', async () => {
    const { body } = await owner.client.post(USERS, { email: 'filtered@acme.example', name: 'F' });
    await about('user', body.user.id, 1);
    const all = await list();
    const byOwner = await list(`&actor=${owner.user.id}`);
    expect(byOwner).toEqual(all.filter(({ actor }) => actor.user_id === owner.user.id));
    expect(await list('&actor=operator')).toEqual(all.filter(({ actor }) => actor.type === 'operator'));
    expect(await list('&action=user.created')).toEqual(all.filter(({ action }) => action === 'user.created'));
    const from = body.user.created_at;
    expect(await list(`&occurred_from=${from}`)).toEqual(all.filter(({ occurred_at }) => occurred_at >= from));
    expect(await list(`&occurred_to=${from}`)).toEqual(all.filter(({ occurred_at }) => occurred_at < from));

    const paged: AuditEntryWire[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const page: { entries: AuditEntryWire[]; pagination: { next_cursor?: string } } = (
        await owner.client.get(`${AUDIT_LOG}?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`)
      ).body;
      paged.push(...page.entries);
      cursor = page.pagination.next_cursor;
    }
    expect(paged).toEqual(all);
  });

  test('is for those who may change settings, and of one workspace', async () => {
    const member = await memberOf(gateway, { role: 'member' });
    expect((await member.client.get(AUDIT_LOG)).body.code).toBe('missing_role_permission');
    const reader = await memberOf(gateway, { role: 'admin', scopes: ['users:read'] });
    expect((await reader.client.get(AUDIT_LOG)).body.code).toBe('missing_scope');
    await gateway.admin.createWorkspace({ slug: 'unaudited', name: 'U' });
    const other = await memberOf(gateway, { role: 'owner', workspace: 'unaudited' });
    const entries = await list('', other);
    expect(entries.filter(({ actor }) => actor.type === 'user')).toEqual([]);
  });

  test.each([
    ['actor=somebody', 'actor'],
    ['action=nothing', 'action'],
    ['occurred_from=yesterday', 'occurred_from'],
  ])('refuses %s', async (query, field) => {
    expect((await owner.client.get(`${AUDIT_LOG}?${query}`)).body).toMatchObject({ code: 'invalid_request', field });
  });
});
