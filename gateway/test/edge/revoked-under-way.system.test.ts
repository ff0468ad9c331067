import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { type Answer, type Client, eventually, openEventStream } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../../../infra/verification/systems/running.ts';

const INCIDENTS = '/api/v1/incidents';
const KEYS = '/api/v1/settings/api-keys';
const USERS = '/api/v1/settings/users';
const SCOPES = ['incidents:read', 'incidents:write', 'imports:write', 'alerts:write', 'configuration:read'];
/** Promised: within a second nothing more is done (contract: Authentication). */
const PROMISE = 1_000;
const AT_REVISION_1 = { 'If-Service-Resource-Version': '1' };

/** Who loses a key, or what it needs. */
interface Victim {
  userId: number;
  keyId: number;
}

describeWithServers('a credential that ends while its requests are under way', () => {
  const system = runningSystem(() => ({ settings: { RATE_LIMIT_PER_MINUTE: '100000' } }));
  const owner = running(async () => system.as({ role: 'owner' }));
  let victims = 0;

  async function createVictim(): Promise<Victim & { client: Client; token: string }> {
    victims += 1;
    const email = `victim-${victims}@acme.example`;
    const user = { email, name: `Victim ${victims}`, role: 'admin', seat: 'responder' };
    const { id: userId } = (await owner.post(USERS, user)).body.user as { id: number };
    const { body } = await owner.post(KEYS, { name: email, scopes: SCOPES, user_id: userId });
    return {
      userId,
      keyId: body.api_key.id,
      token: body.token,
      client: owner.with({ Authorization: `Bearer ${body.token}` }),
    };
  }

  /** What every write of the victims changes: revisions of incidents, incidents, and the alerts of each. */
  const readAll = async () => {
    const found: unknown[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined;) {
      const path = `${INCIDENTS}?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`;
      // The requests of the victims may have all connections of the workspace.
      const { body } = await eventually(async () => {
        const answer: Answer = await owner.get(path);
        return answer.status === 200 ? answer : undefined;
      });
      found.push(...body.incidents.map(({ id, revision }: { id: number; revision: number }) => `${id}@${revision}`));
      cursor = body.pagination.next_cursor ?? undefined;
    }
    return found.sort();
  };

  const bulksOf = ({ client }: { client: Client }, ids: readonly number[], count: number) =>
    Array.from({ length: count }, async (_, bulk) =>
      client.post(`${INCIDENTS}/bulk`, {
        items: ids.map((id, index) => ({ id, verb: (bulk + index) % 2 === 0 ? 'resolve' : 'reopen' })),
      }),
    );

  const importsOf = ({ client, keyId }: { client: Client; keyId: number }, count: number) =>
    Array.from({ length: count }, async (_, turn) =>
      client.post('/api/v1/imports/incidents', {
        incidents: Array.from({ length: 50 }, (_, index) => ({
          external: { source: 'test', id: `${keyId}-${turn}-${index}` },
          author: { name: 'Ana' },
          created_at: '2026-01-20T09:00:00Z',
          ...{ title: `Imported ${index}`, status: 'resolved', severity: 'sev2' },
        })),
      }),
    );

  const alertsOf = ({ client, keyId }: { client: Client; keyId: number }, count: number) =>
    Array.from({ length: count }, async (_, index) =>
      client.post('/api/v1/alerts', { id: `${keyId}-${index}`, status: 'firing', title: `Alert ${index}` }),
    );

  const ways: [what: string, end: (victim: Victim) => Promise<Answer>, refused: number][] = [
    ['is revoked', async ({ keyId }) => owner.post(`${KEYS}/${keyId}/revoke`), 401],
    [
      'is of a user who is deactivated',
      async ({ userId }) => owner.patch(`${USERS}/${userId}`, { active: false }, AT_REVISION_1),
      401,
    ],
    [
      'loses its scopes',
      async ({ keyId }) => owner.patch(`${KEYS}/${keyId}`, { scopes: ['configuration:read'] }, AT_REVISION_1),
      403,
    ],
    ['loses its seat', async ({ userId }) => owner.patch(`${USERS}/${userId}`, { seat: 'none' }, AT_REVISION_1), 403],
  ];

  describe('changes nothing after a second, in 30 bulks, in imports and alerts that wait for their turn, when it', () => {
    test.each(ways)('%s', async (what, end, refused) => {
      const victim = await createVictim();
      const ids: number[] = [];
      for (let index = 0; index < 50; index += 1) {
        ids.push((await owner.post(INCIDENTS, { title: `Incident ${index}` })).body.incident.id);
      }
      const before = await readAll();
      // An import needs no seat, and goes on without one.
      const imports = what.includes('seat') ? 0 : 10;
      const requests = [...bulksOf(victim, ids, 30), ...importsOf(victim, imports), ...alertsOf(victim, 10)];
      const stream = await openEventStream(new URL('/api/v1/events', system.url), {
        Host: 'acme.localhost',
        Authorization: `Bearer ${victim.token}`,
      });
      const poll = victim.client.get('/api/v1/events?wait=20&types=incident.archived');
      await delay(300);
      expect((await end(victim)).status).toBe(200);
      await delay(PROMISE);
      const later = await readAll();
      const answers = await Promise.all(requests);
      const waited = await poll;
      expect(await stream.ended).toBe(true);
      expect(await readAll()).toEqual(later);
      // It had begun, and was not done.
      expect(later).not.toEqual(before);
      expect(answers.map(({ status }) => status).filter((status) => ![200, refused].includes(status))).toEqual([]);
      expect(answers.filter(({ status }) => status === refused).length).toBeGreaterThan(10);
      expect([401, 403]).toContain(waited.status);
    });
  });
});
