import type { Attack } from '../attack.ts';
import { beginFlood, flood } from '../flood.ts';
import { create, createIncident, fillFeed } from '../hostile-data.ts';
import { copyIncident, copyRow } from '../../statements/copy-rows.ts';

/** Bytes that a workspace may read and send in a minute (contract: Limits), with what a count may be late. */
const BYTES_A_MINUTE = 1.1 * 600 * 1_048_576;

/** Answers whose work grew with what the workspace has stored. */
export const growingAnswerAttacks: readonly Attack[] = [
  {
    name: 'unmanaged-references',
    what: 'first pages of services of a workspace with 100,000 services that its catalog does not have (by SQL), 10 at once',
    expects: [200],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace, { service: 'service' });
      const count = context.choose(100_000, 10_000);
      await copyIncident(context.sql, workspace.id, { id, count, set: { service: `'service-' || copy` } });
      await context.sql.query(
        `insert into incident.service_references (workspace_id, value, incidents)
         select workspace_id, service, 1 from incident.incidents where workspace_id = $1 on conflict do nothing`,
        [workspace.id],
      );
      await beginFlood(context, { clients: 10 }, async () => {
        const { outcome, text } = await context.send(workspace, { path: '/api/v1/services?limit=1', kept: 10_000 });
        if (outcome !== 200) return;
        const { unmanaged_references: references } = JSON.parse(text) as { unmanaged_references: unknown[] };
        context.check(references.length === 100, 'the answer has no references', { timed: true });
      });
    },
  },
  {
    name: 'tagged-timeline',
    what: 'pages of a timeline of 20,000 events with 50 tags each (by SQL), each with other time bounds or by tag, 10 at once',
    // What takes longer than the deadline of a read.
    expects: [200, 503],
    run: async (context, workspace) => {
      const incident = await createIncident(context, workspace);
      const path = `incidents/${incident.id}/timeline`;
      const { id } = await create(context, workspace, { path, body: { body: 'Tagged', at: '2026-01-01T00:00:00Z' } });
      const count = context.choose(19_999, 1_999);
      const tags = `(select array_agg('tag ' || copy || ' ' || nth) from generate_series(1, 50) as nth)`;
      const set = { tags, tags_folded: tags };
      await copyRow(context.sql, { table: 'incident.timeline_events', id, count, set });
      await context.sql.query('update incident.incidents set event_count = $2 where id = $1', [incident.id, count + 1]);
      await beginFlood(context, { clients: 10 }, async (number) => {
        const from = new Date(Date.UTC(2000, 0, 1) + number).toISOString();
        const filter = number % 2 === 0 ? `started_from=${from}` : `tag=${number}`;
        return context.send(workspace, { path: `/api/v1/${path}?limit=1&${filter}` });
      });
    },
  },
  {
    name: 'streamed-history',
    what: 'streams of 40 MB of the event feed from its beginning (by SQL), 20 at once, opened again when they end',
    expects: [200, 'silent', 'closed'],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      await fillFeed(context, workspace, { count: 200, bytes: 400_000 });
      await context.begin();
      let received = 0;
      await flood(context, { clients: 20 }, async () => {
        const { bytes } = await context.send(workspace, {
          path: '/api/v1/events?from=beginning',
          headers: { Accept: 'text/event-stream' },
        });
        received += bytes;
      });
      // The attack takes less than a minute, but may begin at the end of one.
      context.check(received <= 2 * BYTES_A_MINUTE, `the attacker has received ${received} bytes`);
    },
  },
];
