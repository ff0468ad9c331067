import { gzipSync } from 'node:zlib';
import type { Attack } from '../attack.ts';
import { connect, head } from '../connections.ts';
import { beginFlood, flood } from '../flood.ts';
import { hostileDocuments } from '../hostile-documents.ts';
import { createIncident, createTextFields, LARGEST, largestValues, postIncident } from '../hostile-data.ts';

const MEBIBYTE = 1_048_576;
const LARGE = 400_000;
const POST = 'POST /api/v1/incidents';
/** A response may come before the body is complete, and the connection may then be closed. */
const INCOMPLETE = [400, 408, 'closed', 'silent'] as const;

/** Bodies that arrive slowly or never, that expand, or that are expensive to parse. */
export const bodyAttacks: readonly Attack[] = [
  {
    name: 'announced-bodies',
    what: '1,000 POSTs that announce 100 bytes and send one',
    expects: INCOMPLETE,
    run: async (context, workspace) => {
      await context.begin();
      const request = head(workspace, POST, { 'Content-Type': 'application/json', 'Content-Length': '100' });
      await flood(context, { clients: 100, perSecond: context.choose(500, 2_000) }, async () =>
        connect(context, { first: `${request}{` }),
      );
      await context.untilOver();
    },
  },
  {
    name: 'stalled-uploads',
    what: '300 POSTs that announce 1 MiB, send all but one byte, and wait',
    expects: [...INCOMPLETE, 413],
    run: async (context, workspace) => {
      await context.begin();
      const headers = { 'Content-Type': 'application/json', 'Content-Length': String(MEBIBYTE) };
      const request = Buffer.from(`${head(workspace, POST, headers)}{"title":"${'a'.repeat(MEBIBYTE - 11)}`);
      const options = { clients: 20, total: 300, perSecond: context.choose(50, 400) };
      await flood(context, options, async () => connect(context, { first: request }));
      await context.untilOver();
    },
  },
  {
    name: 'compressed-bodies',
    what: 'bodies of 1 MiB that unpack to 1 GiB, and a request for compressed responses',
    expects: [200, 415],
    run: async (context, workspace) => {
      await createIncident(context, workspace);
      const bomb = gzipSync(Buffer.alloc(context.choose(1_024, 256) * MEBIBYTE), { level: 9 });
      await beginFlood(context, { clients: 8, total: 200 }, async (number) => {
        if (number % 4 === 3) {
          const headers = { 'Accept-Encoding': 'gzip, br, zstd' };
          const answer = await context.send(workspace, { path: '/api/v1/incidents', headers });
          context.check(answer.headers['content-encoding'] === undefined, 'a response is compressed');
          return;
        }
        const encoding = ['gzip', 'deflate', 'br'][number % 4] ?? 'gzip';
        const answer = await postIncident(context, workspace, bomb, { 'Content-Encoding': encoding });
        context.check(answer.outcome !== 200, `a body with the encoding ${encoding} is accepted`);
      });
    },
  },
  {
    name: 'hostile-json',
    what: '90,000 keys, 500,000 zeros, deep nesting, many documents, long texts and repeated keys, 8 at once',
    expects: [400],
    run: async (context, workspace) => {
      const bodies = hostileDocuments(MEBIBYTE);
      await beginFlood(context, { clients: 8, total: 300 }, async (number) =>
        postIncident(context, workspace, bodies[number % bodies.length]),
      );
    },
  },
  {
    name: 'large-bodies',
    what: 'creates with 400 kB, 40 at once: valid values, long texts, many small values and nesting',
    expects: [201, 400],
    run: async (context, workspace) => {
      const fields = await createTextFields(context, workspace, LARGEST.fields);
      const valid = JSON.stringify({ title: 'Hostile', custom_field_values: largestValues(fields) });
      // White space at the end makes it as large as the others.
      const bodies = [valid.padEnd(LARGE), ...hostileDocuments(LARGE).filter(({ length }) => length <= LARGE)];
      await beginFlood(context, { clients: 40, perSecond: Infinity }, async (number) =>
        postIncident(context, workspace, bodies[number % bodies.length]),
      );
    },
  },
];
