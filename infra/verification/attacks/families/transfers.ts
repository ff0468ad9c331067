import type { Attack, AttackContext } from '../attack.ts';
import { connect, head } from '../connections.ts';
import { beginFlood, flood } from '../flood.ts';
import type { Workspace } from '../../systems/workspaces.ts';

/** Transfers of whole incidents, in and out. */
export const transferAttacks: readonly Attack[] = [
  {
    name: 'largest-transfers',
    what: 'transfers of 50 incidents with 1,000 timeline events, 15 at once: new ones, the same again, and changed ones',
    // They wait for each other.
    expects: [200, 'silent'],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 15 }, async (number) =>
        transferMany(context, workspace, { first: 50 * (number % 20), round: Math.floor(number / 40) }),
      );
    },
  },
  {
    name: 'unread-exports',
    what: '100 exports of many large incidents that read nothing, and 10 that read all, again and again',
    expects: [200, 'silent', 'closed'],
    run: async (context, workspace) => {
      for (let batch = 0; batch < context.choose(40, 8); batch += 1)
        await transferMany(context, workspace, { first: 50 * batch, round: 0 });
      await context.begin();
      const request = head(workspace, 'GET /api/v1/exports/incidents');
      const open = { clients: 20, total: 100, perSecond: 50 };
      await flood(context, open, async () => connect(context, { first: request, reads: false }));
      await flood(context, { clients: 10, perSecond: 10 }, async () =>
        context.send(workspace, { path: '/api/v1/exports/incidents' }),
      );
      await context.untilOver();
    },
  },
];

/** Moves 50 incidents in, with about as many events as the weight of a body allows, and as many relations as a request may have. */
const transferMany = async (
  context: AttackContext,
  workspace: Workspace,
  { first, round }: { first: number; round: number },
) => {
  const author = { name: 'Mallory', email: 'mallory@elsewhere.example' };
  const started_at = '2024-03-02T18:20:00Z';
  const timeline = Array.from({ length: 20 }, (_, event) => ({
    ...{ external_id: String(event), type: 'note', started_at, author, body: `Round ${round}: ${'x'.repeat(200)}` },
  }));
  const created_at = '2024-03-02T18:04:00Z';
  const named = (index: number) => ({ source: 'attack', id: String(first + (index % 50)) });
  const incidents = Array.from({ length: 50 }, (_, index) => ({
    external: named(index),
    ...{ title: 'Hostile', status: 'closed', severity: 'sev3', created_at, author, timeline },
    relations: Array.from({ length: 10 }, (__, other) => ({
      ...{ type: 'related', external: named(index + other + 1), created_at, author },
    })),
  }));
  return context.send(workspace, { method: 'POST', path: '/api/v1/imports/incidents', body: { incidents } });
};
