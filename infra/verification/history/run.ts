import { type Client, eventually, httpClient, type ReceivedRequest, type Receiver } from '@tocsin/testing';
import { check, type Evidence } from './checker.ts';
import { factsOf } from './facts.ts';
import { readFinalState, readLists } from './final-state.ts';
import { type History, type Sender, startHistory, type Violation } from './history.ts';
import { seededRandom } from './random.ts';
import { type FeedReader, followByPolling, followByStream } from './readers.ts';
import { randomClient } from './workload.ts';
import type { World } from './workload-client.ts';

export interface RunOptions {
  gateways: readonly string[];
  seed: number;
  workspaces: readonly RunWorkspace[];
  /** Whether clients break their own connections; default: true. */
  cuts?: boolean;
  /** Milliseconds between two operations of a client; default: 0. */
  pause?: number;
}

interface RunWorkspace {
  slug: string;
  token: string;
  clients: number;
  /** Operations of each client; default: until the run is stopped. */
  rounds?: number;
  /** How many incidents there may be by now; default: any number. */
  mayDeclare?: () => number;
  /** Gets a webhook to this receiver, and a destination at `DESTINATION_PATH` there. */
  receiver?: { server: Receiver; url: string };
}

/** Clients of several workspaces, and readers of their feeds, while the system breaks. */
export interface Run {
  history: History;
  /** For requests beside those of the clients of a workspace. */
  sender(slug: string): Sender;
  /** Settles when the clients are done, or have given up. */
  done: Promise<void>;
  /** Lets the clients end what they are doing. */
  stop(): Promise<void>;
  /** Compares everything, once the clients are done and the system works. Ends the run. */
  finish(): Promise<Violation[]>;
  /** Ends the run without a result, whatever works. */
  abandon(): Promise<void>;
}

/** Where the receiver gets the messages of a destination. */
const DESTINATION_PATH = '/destination';
/** Those of which a destination can send all in time: it sends ten events a second at most. */
const DESTINATION_TYPES = ['incident.created', 'follow_up.created', 'follow_up.updated', 'follow_up.deleted'];

/** Milliseconds until all that was written is in the feed, and delivered. */
const SETTLED_WITHIN = 240_000;

/** What a run has of one of its workspaces. */
interface Part {
  workspace: RunWorkspace;
  client: Client;
  world: World;
  /** Of its webhook, which its destination has, too. */
  secret: string | undefined;
  readers: FeedReader[];
}

export async function startRun(options: RunOptions): Promise<Run> {
  const { gateways, seed, cuts = true, pause = 0 } = options;
  let seeds = seed;
  const nextRandom = () => seededRandom((seeds += 1));
  const parts = await Promise.all(
    options.workspaces.map(async (workspace) => preparePart(workspace, gateways[0] ?? '')),
  );
  const history = startHistory(gateways);
  for (const { workspace, readers } of parts) {
    const sender = { ...workspace, client: 0 };
    readers.push(followByPolling(history, sender), followByStream(history, sender, nextRandom()));
  }
  let isStopped = false;
  const clients = parts.flatMap(({ workspace, world }, index) =>
    Array.from({ length: workspace.clients }, async (_, client) => {
      const other = parts[(index + 1) % parts.length]?.world ?? world;
      const sender = { ...workspace, client: client + 1 };
      const act = randomClient({ ...{ history, sender, world, other, cuts, pause }, random: nextRandom() });
      for (let round = 0; round < (workspace.rounds ?? Infinity) && !isStopped; round += 1) await act();
    }),
  );
  const done = Promise.all(clients).then(() => undefined);
  // Whoever waits for it gets the error.
  done.catch(() => undefined);

  const end = async () => {
    await Promise.all(parts.flatMap(({ readers }) => readers.map(async (reader) => reader.stop())));
    await history.stop();
  };
  const finish = async (): Promise<Violation[]> => {
    await done;
    // If something is missing, the comparison says what.
    const settled = { within: SETTLED_WITHIN, what: 'a feed with everything' };
    for (const part of parts) await eventually(async () => isSettled(history, part), settled).catch(() => undefined);
    const violations = [...history.violations];
    for (const part of parts) violations.push(...check(await evidenceOf(history, part)));
    for (const { workspace } of parts) {
      const { deliveries, messages } = receivedBy(workspace);
      if (idsOf(deliveries).size < deliveries.length) history.met.see('a repeated delivery');
      if (idsOf(messages).size < messages.length) history.met.see('a repeated message');
    }
    await end();
    return violations;
  };
  return {
    history,
    sender: (slug) => ({
      slug,
      token: parts.find(({ world }) => world.slug === slug)?.workspace.token ?? '',
      client: 0,
    }),
    done,
    stop: async () => {
      isStopped = true;
      await done;
    },
    finish,
    abandon: async () => {
      isStopped = true;
      await Promise.allSettled([...clients, end()]);
    },
  };
}

async function preparePart(workspace: RunWorkspace, gateway: string): Promise<Part> {
  const { slug, token, mayDeclare = () => Infinity, receiver } = workspace;
  const client = httpClient(gateway, { Host: `${slug}.localhost`, Authorization: `Bearer ${token}` });
  const me = (await client.get('/api/v1/me')).body as { user: { id: number } };
  const targetsByKind = { incident: [], timeline_event: [], follow_up: [], service: [], team: [], field: [] };
  const world: World = { slug, user: String(me.user.id), targetsByKind, declared: 0, mayDeclare };
  const secret = receiver === undefined ? undefined : await subscribe(client, receiver.url);
  if (receiver !== undefined && secret !== undefined) await createDestination(client, { url: receiver.url, secret });
  receiver?.server.requests.splice(0);
  return { workspace, client, world, secret, readers: [] };
}

async function evidenceOf(history: History, { workspace, client, secret, readers }: Part): Promise<Evidence> {
  const operations = history.operations.filter((each) => each.workspace === workspace.slug);
  const final = await readFinalState(client, workspace.slug, operations);
  if (final.pictures.size > 0) history.met.see('a picture');
  return {
    ...{ operations: history.operations, lists: history.lists, seen: history.seen, slug: workspace.slug },
    polled: readers[0]?.events ?? [],
    streamed: readers[1]?.events ?? [],
    final,
    ...(secret !== undefined && {
      webhook: { secret, requests: receivedBy(workspace).deliveries },
      destination: { secret, types: DESTINATION_TYPES, requests: receivedBy(workspace).messages },
    }),
  };
}

/** What the receiver of a workspace got from its webhook, and from its destination. */
function receivedBy({ receiver }: RunWorkspace) {
  const { true: messages = [], false: deliveries = [] } = Object.groupBy(receiver?.server.requests ?? [], (request) =>
    request.path === DESTINATION_PATH ? 'true' : 'false',
  );
  return { deliveries, messages };
}

const idsOf = (requests: readonly ReceivedRequest[]) => new Set(requests.map(({ headers }) => headers['webhook-id']));

/** Whether a feed has the newest revision of everything that lists have, and a receiver everything that it gets. */
async function isSettled(history: History, { workspace, client, secret, readers }: Part): Promise<boolean> {
  const { slug } = workspace;
  const facts = factsOf(history, readers[0]?.events ?? []);
  const { deliveries, messages } = receivedBy(workspace);
  const countOf = (types: readonly string[]) => facts.changes.filter(({ event }) => types.includes(event.type)).length;
  if (readers[0]?.events.length !== readers[1]?.events.length) return false;
  if (secret !== undefined && idsOf(deliveries).size !== countOf(['incident.created'])) return false;
  if (secret !== undefined && idsOf(messages).size !== countOf(DESTINATION_TYPES)) return false;
  // These are many requests.
  const { versions } = await readLists(client, slug);
  return [...versions.values()].every(({ name, revision }) => facts.of(name).at(-1)?.revision === revision);
}

/** Creates a destination that signs with this secret. */
async function createDestination(client: Client, { url, secret }: { url: string; secret: string }): Promise<void> {
  const { status, text } = await client.post('/api/v1/settings/destinations', {
    ...{ name: 'History', kind: 'http', url: new URL(DESTINATION_PATH, url).href, credential: secret },
    filters: { event_types: DESTINATION_TYPES },
  });
  if (status !== 201) throw new Error(`cannot create a destination: ${text}`);
}

/** Returns the secret of an active webhook. */
async function subscribe(client: Client, url: string): Promise<string> {
  const created = await client.post('/api/v1/settings/webhooks', { url });
  const { webhook, secret } = created.body as { webhook: { id: string }; secret: string };
  const verify = async () => client.post(`/api/v1/settings/webhooks/${webhook.id}/verify`);
  await eventually(async () => (await verify()).status === 200, { what: 'an active webhook' });
  return secret;
}
