import type { Attack, AttackContext } from '../attack.ts';
import { connect, head } from '../connections.ts';
import { beginFlood, flood } from '../flood.ts';
import { createIncident } from '../hostile-data.ts';
import { hostilePictures } from '../hostile-pictures.ts';
import { plainPng } from '../../systems/png.ts';
import type { Workspace } from '../../systems/workspaces.ts';

const LARGEST = 5 * 1_048_576;
const ORDINARY = plainPng(320, 200);
const TYPE = { 'Content-Type': 'application/octet-stream' };

/** Pictures that are expensive to decode, and uploads that do not end. */
export const pictureAttacks: readonly Attack[] = [
  {
    name: 'hostile-pictures',
    what: 'pictures of 50 million pixels, 10,000 frames, 50,000 passes or unpacked gigabytes, and damaged ones, 24 at once',
    // Those that the decoder has no time or memory for; those that wait too long.
    expects: [201, 400, 503, 'silent'],
    run: async (context, workspace) => {
      const pictures = await hostilePictures();
      const incidents = await Array.fromAsync({ length: 10 }, async () => createIncident(context, workspace));
      const other = await context.createWorkspace();
      const { id } = await createIncident(context, other);
      await context.begin();
      const hostile = flood(context, { clients: 24, perSecond: 4 }, async (number) => {
        const { bytes, isRefused } = pictures[number % pictures.length] ?? { bytes: Buffer.of(), isRefused: true };
        const incident = incidents[number % incidents.length]?.id ?? 0;
        const { outcome } = await upload(context, workspace, { incident, bytes });
        context.check(!isRefused || outcome !== 201, `the picture ${number % pictures.length} is stored`);
      });
      const ordinary = flood(context, { clients: 1, perSecond: 1, total: 40 }, async () => {
        const { outcome, text } = await upload(context, other, { incident: id, bytes: ORDINARY });
        const isStored = outcome === 201 || outcome === 'silent';
        context.check(isStored, `another workspace cannot upload: ${outcome} ${text}`, { timed: outcome === 503 });
      });
      await Promise.all([hostile, ordinary]);
      const { rows } = await context.sql.query(
        `select id from incident.pictures where octet_length(content) > $1 or position('script'::bytea in content) > 0`,
        [LARGEST],
      );
      context.check(rows.length === 0, 'a picture is too large, or has more than pixels');
    },
  },
  {
    name: 'cut-pictures',
    what: '100 uploads that announce 5 MiB and send all but one byte: half of them wait, the others are cut off',
    expects: [400, 408, 503, 'closed', 'silent'],
    run: async (context, workspace) => {
      const { id } = await createIncident(context, workspace);
      const headers = { ...TYPE, 'Content-Length': String(LARGEST) };
      const request = head(workspace, `POST /api/v1/incidents/${id}/pictures`, headers);
      const first = Buffer.concat([Buffer.from(request), ORDINARY, Buffer.alloc(LARGEST - ORDINARY.length - 1)]);
      const options = { clients: 20, total: 100, perSecond: context.choose(10, 20) };
      await beginFlood(context, options, async (number) => connect(context, { first, breaks: number % 2 === 0 }));
      await context.untilOver();
      const { rows } = await context.sql.query('select id from incident.pictures where workspace_id = $1', [
        workspace.id,
      ]);
      context.check(rows.length === 0, 'a picture is stored that did not arrive');
    },
  },
];

const upload = async (
  context: AttackContext,
  workspace: Workspace,
  { incident, bytes }: { incident: number; bytes: Buffer },
) =>
  context.send(workspace, {
    ...{ method: 'POST', path: `/api/v1/incidents/${incident}/pictures`, body: bytes, headers: TYPE },
  });
