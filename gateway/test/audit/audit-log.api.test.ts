import { afterAll, describe, expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import type { AuditEntryWire } from '../../src/audit/http/contracts.ts';
import { startGatewayHarness } from '../gateway-harness.ts';
import { at, KEYS, memberOf, USERS } from '../members.ts';

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
});
