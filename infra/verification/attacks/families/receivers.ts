import { setTimeout as delay } from 'node:timers/promises';
import type { Attack, AttackContext } from '../attack.ts';
import type { ReceiverName, ReceiverPath } from '../../systems/receiver-urls.ts';
import type { Workspace } from '../../systems/workspaces.ts';
import { beginFlood, flood, LEGAL_RATE } from '../flood.ts';
import { create, postIncident } from '../hostile-data.ts';

const WEBHOOKS = 'settings/webhooks';
const SUBSCRIPTIONS = 10;
/** More than a workspace can revoke while they are kept. */
const REVOKED = 300_000;
const PATHS: readonly ReceiverPath[] = ['/hang', '/slow', '/endless', '/headers'];
/** Milliseconds within which an honest receiver must get its delivery: the hostile ones hold only their own slots. */
const DELIVERED_WITHIN = 10_000;
const INTERVAL = 200;
/** In a second, together. */
const DOCUMENTS = 15;
/** Each may have 3 of the 10 connections that the incident service has to its database. */
const READERS = 3;

/** Servers that Tocsin calls because a client says so, and that respond slowly, endlessly or never. */
export const receiverAttacks: readonly Attack[] = [
  {
    name: 'slow-receivers',
    what: `${SUBSCRIPTIONS} webhooks that hang, trickle and never end (activated by SQL), and 10 creates a second`,
    expects: [200, 201],
    run: async (context, workspace) => {
      const witness = await context.createWorkspace();
      for (let index = 0; index < SUBSCRIPTIONS; index += 1) {
        await subscribe(context, workspace, 'hostile', PATHS[index % PATHS.length] ?? '/hang');
      }
      await subscribe(context, witness, 'honest', '/accept');
      await context.begin();
      await Promise.all([
        flood(context, { clients: 10, perSecond: LEGAL_RATE / 2 }, async () =>
          postIncident(context, workspace, { title: 'Hostile' }),
        ),
        witnessDelivery(context, witness),
      ]);
    },
  },
  {
    name: 'revoked-webhooks',
    what: `creates of incidents and webhooks, and lists, in a workspace with ${REVOKED} revoked webhooks (by SQL)`,
    expects: [200, 201],
    run: async (context, workspace) => {
      const witness = await context.createWorkspace();
      await addRevoked(context, workspace, context.choose(REVOKED, REVOKED / 10));
      // Not the receiver of the witness, which gets ten requests a minute from all workspaces.
      await subscribe(context, workspace, 'hostile', '/hang');
      await subscribe(context, witness, 'honest', '/accept');
      await context.begin();
      const options = { clients: 10, total: 2_000 };
      await Promise.all([
        flood(context, options, async (number) => {
          if (number % 4 === 0) return context.send(workspace, { path: `/api/v1/${WEBHOOKS}` });
          if (number % 4 === 1) return createAndRevoke(context, workspace);
          return postIncident(context, workspace, { title: 'Hostile' });
        }),
        witnessDelivery(context, witness),
      ]);
    },
  },
  {
    name: 'trickling-documents',
    what: '40 creates at once that read documents which arrive byte by byte',
    expects: [201, 'silent'],
    run: async (context, workspace) => {
      const body = readingOf(context, '/trickle');
      await beginFlood(context, { clients: 40, total: 400, perSecond: LEGAL_RATE * 2 }, async () =>
        postIncident(context, workspace, body),
      );
    },
  },
  {
    name: 'timeline-documents',
    what: `${READERS} workspaces have ${DOCUMENTS} documents of 500 events read in a second`,
    expects: [201],
    run: async (context) => {
      const [readers, documents] = context.choose([READERS, DOCUMENTS], [1, 2]);
      const workspaces = await context.createWorkspaces(readers);
      const body = readingOf(context, '/events');
      await beginFlood(context, { clients: 30, perSecond: documents }, async (number) => {
        const workspace = workspaces[number % readers];
        if (workspace !== undefined) await postIncident(context, workspace, body);
      });
    },
  },
];

/** A create that reads a document into its timeline. */
const readingOf = (context: AttackContext, path: ReceiverPath) => ({
  title: 'Hostile',
  doc_url: context.receiverUrl('documents', path),
  import_source_timeline_event: true,
});

async function addRevoked(context: AttackContext, { id }: Workspace, count: number): Promise<void> {
  await context.sql.query(
    `insert into webhook.subscriptions (id, workspace_id, origin, host, event_types, status, created_at, updated_at)
    select 'wh_' || gen_random_uuid(), $1, 'https://example.com', 'example.com', '{incident.created}', 'revoked',
      now() - interval '2 hours', now() - interval '2 hours'
    from generate_series(1, $2::int)`,
    [id, count],
  );
}

async function createAndRevoke(context: AttackContext, workspace: Workspace): Promise<void> {
  const body = { url: context.receiverUrl('hostile', '/hang') };
  const { outcome, text } = await context.send(workspace, { method: 'POST', path: `/api/v1/${WEBHOOKS}`, body });
  if (outcome !== 201) return;
  const { webhook } = JSON.parse(text) as { webhook: { id: string } };
  await context.send(workspace, { method: 'POST', path: `/api/v1/${WEBHOOKS}/${webhook.id}/revoke`, body: {} });
}

/** Subscribes a receiver. Activates it by SQL, since only three receivers a minute can be verified. */
async function subscribe(
  context: AttackContext,
  workspace: Workspace,
  receiver: ReceiverName,
  path: ReceiverPath,
): Promise<void> {
  const body = { url: context.receiverUrl(receiver, path) };
  const { id } = await create<{ id: string }>(context, workspace, { path: WEBHOOKS, body });
  await context.sql.query(`update webhook.subscriptions set status = 'active', verified = true where id = $1`, [id]);
  await context.sql.query(
    `insert into webhook.activity (workspace_id, subscription_id, started_at, after_number)
     select workspace_id, id, now(), 0 from webhook.subscriptions where id = $1`,
    [id],
  );
}

/** In a workspace that has nothing to do with the attack, a delivery arrives in time. */
async function witnessDelivery(context: AttackContext, witness: Workspace): Promise<void> {
  await context.pause(context.choose(5_000, 500));
  const { outcome } = await postIncident(context, witness, { title: 'Honest' });
  // A slow machine may not have answered when the attack ends.
  context.check(outcome !== 'silent', 'a create of another workspace is not answered', { timed: true });
  if (outcome === 'silent') return;
  const deadline = performance.now() + DELIVERED_WITHIN;
  while (performance.now() < deadline) {
    if (await isDelivered(context, witness)) return;
    await delay(INTERVAL);
  }
  context.check(false, 'a delivery of another workspace does not arrive');
}

/** What the workspace sees; after the attack, when its requests are not answered any more, what is stored. */
async function isDelivered(context: AttackContext, witness: Workspace): Promise<boolean> {
  if (!context.isOver) {
    const { text } = await context.send(witness, { path: `/api/v1/${WEBHOOKS}` });
    return text.includes('"last_success_at":"');
  }
  const { rowCount } = await context.sql.query(
    'select 1 from webhook.subscriptions where workspace_id = $1 and last_success_at is not null',
    [witness.id],
  );
  return rowCount === 1;
}
