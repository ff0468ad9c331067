import { get, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import type { System } from '../../../../infra/verification/systems/system.ts';
import { runningSystem } from '../../../../infra/verification/systems/running.ts';

const IMPORTS = '/api/v1/imports/incidents';
const EXPORTS = '/api/v1/exports/incidents';

describeWithServers('a workspace that moves', () => {
  const system = runningSystem();

  test('stops its export within a second after the key is revoked', async () => {
    const owner = await system.as({ workspace: 'large', role: 'owner' });
    const keys = '/api/v1/settings/api-keys';
    const { api_key: key, token } = (await owner.post(keys, { name: 'leaver', scopes: ['incidents:read'] })).body;
    const author = { name: 'Ana' };
    const started_at = '2024-03-02T18:20:00Z';
    for (let batch = 0; batch < 60; batch += 1) {
      const timeline = Array.from({ length: 10 }, (_, index) => ({
        ...{ external_id: `${batch}-${index}`, type: 'note', started_at, author, body: 'x'.repeat(60_000) },
      }));
      const item = { external: { source: 'dispatch', id: '1' }, title: 'Large', status: 'closed', severity: 'sev3' };
      const incident = { ...item, created_at: '2024-03-02T18:04:00Z', author, timeline };
      expect((await owner.post(IMPORTS, { incidents: [incident] })).body.results[0].outcome).toMatch(/ed$/);
    }
    const unread = await openExport(system, { workspace: 'large', token });
    await owner.post(`${keys}/${key.id}/revoke`, {});
    await eventually(async () => (await owner.with({ Authorization: `Bearer ${token}` }).get(EXPORTS)).status === 401);
    expect((await text(unread).catch(() => '')).endsWith('{"kind":"end"}\n')).toBe(false);
  });
});

/** Opens an export, and reads nothing of it. */
async function openExport(system: System, { workspace, token }: { workspace: string; token: string }) {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const headers = { Host: `${workspace}.localhost`, Authorization: `Bearer ${token}` };
  get(new URL(EXPORTS, system.url), { headers, agent: false }, resolve).on('error', reject);
  return promise;
}
