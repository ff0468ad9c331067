import { setTimeout as delay } from 'node:timers/promises';
// Not all of the package, which takes a second to load, in the process of each attack.
import { eventually } from '@tocsin/testing/eventually';
import type { Attack, AttackContext } from '../attack.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { beginFlood } from '../flood.ts';
import { createIncident, postIncident } from '../hostile-data.ts';
import { SENDER_ADDRESS } from '../../systems/send.ts';

const VICTIM_ADDRESS = '127.0.0.1';

/** Many requests at the same moment. */
export const crowdAttacks: readonly Attack[] = [
  {
    name: 'many-workspaces',
    what: '100 workspaces with 10 clients each; each in turn lists 10 times at once, 100 lists a second in all',
    expects: [200],
    run: async (context) => {
      const workspaces = await context.createWorkspaces(context.choose(100, 30));
      for (const workspace of workspaces) await createIncident(context, workspace);
      await beginFlood(context, { clients: workspaces.length, total: 10_000, perSecond: 10 }, async (number) => {
        const workspace = workspaces[number % workspaces.length];
        if (workspace === undefined) return;
        const list = async () => context.send(workspace, { path: '/api/v1/incidents' });
        await Promise.all(Array.from({ length: 10 }, list));
      });
    },
  },
  {
    name: 'one-crowd',
    what: 'one workspace with 200 clients, of which each lists its incidents as soon as it has the last response',
    expects: [200],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      await beginFlood(context, { clients: 200, total: 4_000, perSecond: 400 }, async () =>
        context.send(workspace, { path: '/api/v1/incidents?include_counts=true' }),
      );
    },
  },
  {
    name: 'key-storm',
    what: '500 creates with the same Idempotency-Key at once',
    expects: [201, 409],
    run: async (context, workspace) => {
      await context.begin();
      const post = async () => postIncident(context, workspace, { title: 'Once' }, { 'Idempotency-Key': 'the-same' });
      const answers = await Promise.all(Array.from({ length: 500 }, post));
      const created = await countIncidents(context, workspace);
      // A slow machine may not have begun with any of them when the attack ends.
      const isAnswered = answers.some(({ outcome }) => outcome === 201);
      context.check(created === 1, `the key created ${created} incidents`, { timed: created === 0 && !isAnswered });
    },
  },
  {
    name: 'invalid-tokens',
    what: 'requests with invalid tokens and unknown hosts, 50 at once, from the address of the victims and another one',
    expects: [401, 404],
    run: async (context, workspace) => {
      await beginFlood(context, { clients: 50, total: 6_000, perSecond: 200 }, async (number) => {
        const host = number % 3 === 0 ? `unknown-${number}.localhost` : workspace.host;
        const stranger = { ...workspace, host, token: `tcs_${'x'.repeat(40)}${number}` };
        const from = number % 2 === 0 ? SENDER_ADDRESS : VICTIM_ADDRESS;
        return context.send(stranger, { path: '/api/v1/incidents', from });
      });
    },
  },
  {
    name: 'queued-events',
    what: 'one workspace has 100,000 events in the outbox (by SQL), which nobody has published yet',
    expects: [],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace);
      const body = await recordedBody(context, workspace, id);
      await context.begin();
      await context.sql.query(
        `insert into incident.outbox (message_id, workspace_id, type, body)
         select id, $1, 'incident.created', replace($2, $3, id::text)
         from (select gen_random_uuid() as id from generate_series(1, $4)) as event`,
        [workspace.id, body, (JSON.parse(body) as { id: string }).id, context.choose(100_000, 2_000)],
      );
      await context.untilOver();
    },
  },
];

/** Milliseconds. */
const RECORDED_WITHIN = 30_000;

/** The event of a new incident, as soon as it is in the feed. */
async function recordedBody(context: AttackContext, workspace: Workspace, incidentId: number): Promise<string> {
  const find = async () =>
    context.sql.query<{ body: string }>(
      'select body from webhook.feed_events where workspace_id = $1 and resource = $2',
      [workspace.id, `incident:${incidentId}`],
    );
  return eventually(async () => (await find()).rows[0]?.body, { within: RECORDED_WITHIN });
}

/** Milliseconds within which the first of many creates is done, on a busy machine too. */
const CREATED_WITHIN = 10_000;

/** Counts a workspace's incidents as soon as there is one. */
async function countIncidents(context: AttackContext, workspace: Workspace): Promise<number> {
  const deadline = performance.now() + CREATED_WITHIN;
  for (;;) {
    const { rows } = await context.sql.query<{ count: number }>(
      'select count(*)::integer as count from incident.incidents where workspace_id = $1',
      [workspace.id],
    );
    const count = rows[0]?.count ?? 0;
    if (count > 0 || performance.now() > deadline) return count;
    await delay(100);
  }
}
