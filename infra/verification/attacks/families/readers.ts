import type { Attack, AttackContext } from '../attack.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { connect, head } from '../connections.ts';
import { beginFlood, flood } from '../flood.ts';
import { createIncident, postIncident } from '../hostile-data.ts';

const AS_STREAM = { Accept: 'text/event-stream' };

/** Waiting readers of the event feed: long polls and streams. */
export const readerAttacks: readonly Attack[] = [
  {
    name: 'many-waiting-readers',
    what: 'one workspace with 500 streams and long polls of the event feed at once, opened again when they end',
    expects: [200, 'silent', 'closed'],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      await beginFlood(context, { clients: 500, total: 5_000, perSecond: context.choose(100, 300) }, async (number) =>
        context.send(workspace, {
          path: '/api/v1/events?wait=20',
          headers: number % 2 === 0 ? AS_STREAM : {},
        }),
      );
    },
  },
  {
    name: 'unread-streams',
    what: '100 streams of the event feed that read nothing, while the workspace creates incidents with long texts',
    expects: [200, 201, 'silent', 'closed'],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      await context.begin();
      const stream = head(workspace, 'GET /api/v1/events?from=beginning', AS_STREAM);
      const open = { clients: 20, total: 100, perSecond: 50 };
      await flood(context, open, async () => connect(context, { first: stream, reads: false }));
      await createLongIncidents(context, workspace);
      await context.untilOver();
    },
  },
];

const createLongIncidents = async (context: AttackContext, workspace: Workspace) =>
  flood(context, { clients: 5, perSecond: 10 }, async (number) =>
    postIncident(context, workspace, { title: `Incident ${number}`, impact_summary: 'x'.repeat(10_000) }),
  );
