import type { Attack, AttackContext } from '../attack.ts';
import { connect, head } from '../connections.ts';
import { flood } from '../flood.ts';
import { createIncident, createTextFields, largestValues, LARGEST } from '../hostile-data.ts';
import { copyIncident } from '../../statements/copy-rows.ts';
import { openFileLimit } from '../open-files.ts';

/** Files that the attacker's process and the gateway need for other things. */
const OTHER_FILES = 1_000;
/** Connections from one address; the system has fewer ports than twice as many. */
const PER_ADDRESS = 5_000;

/** Connections that are slow, many, or never read. */
export const connectionAttacks: readonly Attack[] = [
  {
    name: 'slow-headers',
    what: '500 connections that send one byte of a header a second',
    expects: [400, 408, 'closed', 'silent'],
    run: async (context, workspace) => {
      await context.begin();
      const request = head(workspace, 'GET /api/v1/incidents', { 'X-Slow': 'a'.repeat(1_000) });
      const open = await openAll(context, { count: 500, first: request.slice(0, 40) });
      for (let index = 40; !context.isOver; index += 1) {
        for (const write of open) write(request[index] ?? 'a');
        await context.pause(1_000);
      }
    },
  },
  {
    name: 'idle-readers',
    what: '1,000 connections that ask for the largest legal page and read nothing',
    expects: ['silent', 'closed'],
    run: async (context, workspace) => {
      const fields = await createTextFields(context, workspace, LARGEST.fields);
      const { id } = await createIncident(context, workspace, { custom_field_values: largestValues(fields) });
      await copyIncident(context.sql, workspace.id, { id, count: 40 });
      await context.begin();
      const request = head(workspace, 'GET /api/v1/incidents?limit=100');
      const options = { clients: 100, total: context.choose(1_000, 200), perSecond: 100 };
      await flood(context, options, async () => connect(context, { first: request, reads: false }));
      await context.untilOver();
    },
  },
  {
    name: 'many-connections',
    what: '10,000 connections, or as many as the limit of open files allows, of which each has sent half a request',
    expects: [408, 'silent', 'closed'],
    run: async (context, workspace) => {
      const allowed = (await openFileLimit()) - OTHER_FILES;
      if (allowed < PER_ADDRESS) context.skip(`the limit of open files is ${allowed + OTHER_FILES}`);
      await context.begin();
      await openAll(context, {
        count: Math.min(context.choose(10_000, 3_000), allowed),
        first: head(workspace, 'GET /api/v1/incidents').slice(0, 40),
      });
      await context.untilOver();
    },
  },
  {
    name: 'pipelined',
    what: '20 connections, each with 50 requests at once',
    expects: [200, 'closed', 'silent'],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      await context.begin();
      const request = head(workspace, 'GET /api/v1/incidents?include_counts=true');
      await flood(context, { clients: 20, total: 20, perSecond: 100 }, async () =>
        connect(context, { requests: 50, first: request.repeat(50) }),
      );
      await context.untilOver();
    },
  },
];

async function openAll(context: AttackContext, { count, first }: { count: number; first: string }) {
  const open: Awaited<ReturnType<typeof connect>>[] = [];
  await flood(context, { clients: 100, total: count, perSecond: context.choose(1_000, 3_000) }, async (number) => {
    open.push(await connect(context, { first, from: `127.0.0.${2 + Math.floor(number / PER_ADDRESS)}` }));
  });
  return open;
}
