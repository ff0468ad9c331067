import type { Attack } from '../attack.ts';
import { connect, head } from '../connections.ts';
import { expensiveLists } from '../expensive-lists.ts';
import { beginFlood, flood } from '../flood.ts';
import { copyValues, create, createIncident, createTextFields, fillFeed, textSlug } from '../hostile-data.ts';
import { copyIncident, copyRow } from '../../statements/copy-rows.ts';

/** Pages that are as large, or as expensive to find, as possible. */
export const pageAttacks: readonly Attack[] = [
  {
    name: 'control-characters',
    what: 'pages of 100 events of a letter and 65,535 control characters (by SQL), asked for by 30 clients that read nothing',
    expects: ['silent', 'closed'],
    run: async (context, workspace) => {
      const incident = await createIncident(context, workspace);
      const event = await create(context, workspace, {
        path: `incidents/${incident.id}/timeline`,
        body: { body: `a${'\u0001'.repeat(65_535)}` },
      });
      await copyRow(context.sql, { table: 'incident.timeline_events', id: event.id, count: 99, set: {} });
      await context.begin();
      const request = head(workspace, `GET /api/v1/incidents/${incident.id}/timeline?limit=100`);
      await flood(context, { clients: 30, total: 30, perSecond: 30 }, async () =>
        connect(context, { first: request, reads: false }),
      );
      await context.untilOver();
    },
  },
  {
    name: 'large-pages',
    what: 'lists of 50 and 100 of 100 incidents with values of 6 MiB each (by SQL), 4 at once',
    expects: [200],
    run: async (context, workspace) => {
      const [field_id = 0] = await createTextFields(context, workspace, 1);
      const { id } = await createIncident(context, workspace, { custom_field_values: [{ field_id, value: 'a' }] });
      await copyIncident(context.sql, workspace.id, {
        id,
        count: context.choose(100, 50),
        set: { custom_fields: `jsonb_build_object('${textSlug(0)}', repeat('a', ${6 * 1_048_576}))` },
      });
      await beginFlood(context, { clients: 4, total: 200 }, async (number) =>
        context.send(workspace, { path: `/api/v1/incidents?limit=${number % 2 === 0 ? 50 : 100}` }),
      );
    },
  },
  {
    name: 'post-mortems',
    what: 'post-mortems, as Markdown and as JSON, of an incident with 100,000 events of 60,000 characters of markup (by SQL), 4 at once',
    expects: [200],
    run: async (context, workspace) => {
      const incident = await createIncident(context, workspace);
      const event = await create(context, workspace, {
        path: `incidents/${incident.id}/timeline`,
        body: { body: '[|](`*'.repeat(10_000) },
      });
      const count = context.choose(100_000, 2_000);
      await copyRow(context.sql, { table: 'incident.timeline_events', id: event.id, count, set: {} });
      await beginFlood(context, { clients: 4, total: 200 }, async (number) =>
        context.send(workspace, {
          path: `/api/v1/incidents/${incident.id}/postmortem`,
          headers: { Accept: ['text/markdown', 'application/json', 'text/html'][number % 3] as string },
        }),
      );
    },
  },
  {
    name: 'feed-pages',
    what: 'the event feed from its beginning, in pages of 4 MiB with 100 events (by SQL), 10 at once, with rare types',
    expects: [200, 429],
    run: async (context, workspace) => {
      const count = context.choose(100_000, 2_000);
      await fillFeed(context, workspace, { count, bytes: 40_000 });
      await context.begin();
      const types = ['', '&types=team.changed', '&resource=incident:1', '&resource=team:1&types=team.changed'];
      await flood(context, { clients: 10 }, async (number) =>
        context.send(workspace, {
          path: `/api/v1/events?from=beginning&limit=100${types[number % types.length] ?? ''}`,
        }),
      );
    },
  },
  {
    name: 'expensive-lists',
    what: 'every list with the most expensive filters, sorts and counts that are allowed, 10 at once',
    expects: [200],
    run: async (context, workspace) => {
      const lists = await expensiveLists(context, workspace);
      await beginFlood(context, { clients: 10, total: 2_000 }, async (number) => {
        const path = lists[number % lists.length] ?? '';
        const answer = await context.send(workspace, { path });
        if (answer.outcome === 400) context.check(false, `${path.slice(0, 60)}: ${answer.text.slice(0, 200)}`);
      });
    },
  },
  {
    name: 'statistics',
    what: 'statistics of 100,000 incidents of 400 days (by SQL), by day and by month, some filtered, 8 at once',
    expects: [200],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace, { service: 'checkout' });
      const count = context.choose(100_000, 10_000);
      const created = `original.created_at - copy * interval '${(400 * 86_400) / count} seconds'`;
      await copyIncident(context.sql, workspace.id, {
        id,
        count,
        set: {
          created_at: created,
          service: `'service-' || copy % 1000`,
          first_responded_at: `${created} + copy * interval '1 second'`,
          recovered_at: `${created} + copy * interval '2 seconds'`,
        },
      });
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();
      const queries = [
        `bucket=day&created_from=${daysAgo(399)}`,
        `bucket=month&created_from=${daysAgo(399 * 30)}`,
        `bucket=day&created_from=${daysAgo(399)}&q=checkout`,
        `bucket=week&created_from=${daysAgo(399 * 7)}&active_only=true&unassigned_team=true`,
      ];
      await beginFlood(context, { clients: 8 }, async (number) =>
        context.send(workspace, { path: `/api/v1/incidents/statistics?${queries[number % queries.length] ?? ''}` }),
      );
    },
  },
  {
    name: 'similar',
    what: 'similar incidents of 100,000 (by SQL) of one service, whose titles are the longest and share most words, 8 at once',
    expects: [200],
    run: async (context, workspace) => {
      const words = Array.from({ length: 36 }, (_, index) => `word${index}`).join(' ');
      const { id } = await createIncident(context, workspace, { service: 'checkout', title: words });
      await copyIncident(context.sql, workspace.id, {
        id,
        count: context.choose(100_000, 10_000),
        set: { title: 'original.title' },
      });
      const search = new URLSearchParams({ title: words, service: 'checkout' }).toString();
      await beginFlood(context, { clients: 8 }, async (number) =>
        context.send(workspace, {
          path: `/api/v1/incidents/${number % 2 === 0 ? `similar?${search}` : `${id}/similar`}`,
        }),
      );
    },
  },
  {
    name: 'many-filter-values',
    what: 'lists with as many values of one filter as a query can hold: 6,000 services or teams, 8 at once',
    expects: [200, 400],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace, { service: 'checkout' });
      await copyIncident(context.sql, workspace.id, { id, count: 2_000 });
      await copyValues(context, workspace, id);
      const services = Array.from({ length: 6_000 }, (_, index) => `service=s${index}`).join('&');
      const teams = Array.from({ length: 6_000 }, (_, index) => `team_id=${index + 1}`).join('&');
      await beginFlood(context, { clients: 8 }, async (number) =>
        context.send(workspace, {
          path: `/api/v1/incidents?include_counts=true&${number % 2 === 0 ? services : teams}`,
        }),
      );
    },
  },
];
