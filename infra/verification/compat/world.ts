import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Environment } from '@tocsin/runtime';
import { type Answer, type Client, httpClient, type Receiver } from '@tocsin/testing';
import type { AppName } from '../../apps.ts';
import type { BrokerProbe } from './broker-probe.ts';
import type { Combination } from './combinations.ts';
import type { Releases } from './fleet.ts';
import type { Release } from './release.ts';

/** A resource as a combination left it. */
interface Recorded {
  path: string;
  /** The property of the response that holds the resource. */
  key: string;
  body: Record<string, unknown>;
  /** The name of the combination. */
  by: string;
}

/** A request that can be repeated with its idempotency key, by the client that sent it. */
interface Repeatable {
  client: Client;
  path: string;
  body: object;
  key: string;
  text: string;
}

/** A workspace with one subscription; see `checks/webhooks.ts`. */
export interface Subscriber {
  slug: string;
  client: Client;
  webhookId: string;
  path: string;
  secret: string;
}

/** What one combination made for the next one. */
export interface Round {
  name: string;
  label: string;
  userId: number;
  team: { id: number; revision: number };
  service: { id: number; slug: string; revision: number };
  field: { id: number; slug: string; revision: number };
  incident: { id: number; human_id: string; revision: number };
  /** The position after the first page of the list of incidents, with the IDs that follow. */
  cursor: string;
  repeatable: Repeatable[];
  subscriber: Subscriber;
  /** The reference of an incident whose delivery the receiver refused. */
  heldReference: string;
}

/** What lasts over all combinations. */
export interface World {
  url: string;
  releases: Releases;
  env: Environment;
  receiver: Receiver;
  tokens: string[];
  /** Cookies of sessions. */
  sessions: string[];
  records: Map<string, Recorded>;
  previous: Partial<Round>;
  workspace: { id: number; slug: string; is_demo: boolean };
}

/** One combination while it runs. */
export interface Context {
  world: World;
  combination: Combination;
  /** Unique, for names of resources: `c3`. */
  label: string;
  probe: BrokerProbe;
  /** The release of an app's first process. */
  releaseOf(app: AppName): Release;
  /** With the key that this combination created. */
  client: Client;
  current: Partial<Round>;
}

export const SLUG = 'acme';

/** A client of a workspace. */
export const clientOf = (world: World, slug: string, token: string): Client =>
  httpClient(world.url, { Host: `${slug}.localhost`, Authorization: `Bearer ${token}` });

/** Milliseconds. While a process is replaced, requests may be 503, as clients know it. */
const TIMEOUT = 20_000;

/** Sends a request, again while it is 503, and returns its response. @throws AssertionError for another status */
export async function succeed(status: number, what: string, send: () => Promise<Answer>): Promise<Answer> {
  const deadline = Date.now() + TIMEOUT;
  for (;;) {
    const answer = await send();
    if (answer.status === 503 && Date.now() < deadline) {
      await delay(200);
      continue;
    }
    assert.equal(answer.status, status, `${what} is ${answer.status}: ${answer.text.slice(0, 300)}`);
    return answer;
  }
}

/** Remembers a resource as it is now. */
export function record(context: Context, path: string, key: string, answer: Answer): void {
  const body = resourceIn(answer, key);
  assert.ok(body, `the response has no ${key}`);
  context.world.records.set(path, { path, key, body, by: context.combination.name });
}

const resourceIn = (answer: Answer, key: string) =>
  (answer.body as Partial<Record<string, Record<string, unknown>>>)[key];

/** Properties that time or other resources change. */
const VOLATILE = new Set(['duration_seconds', 'member_count', 'investigation_summary']);

/** Reads every resource that was recorded below a path, and compares what the reader and the writer both know. */
export async function compareRecords(context: Context, prefix: string): Promise<void> {
  const records = [...context.world.records.values()].filter(({ path }) => path.startsWith(prefix));
  for (const { path, key, body, by } of records) {
    const read = resourceIn(await succeed(200, `GET ${path}`, async () => context.client.get(path)), key);
    assert.ok(read, `GET ${path} has no ${key}`);
    for (const [name, value] of Object.entries(body)) {
      if (!(name in read) || VOLATILE.has(name)) continue;
      assert.deepEqual(read[name], value, `${name} of ${path}, written by "${by}"`);
    }
  }
}

/** What the combination before made. Undefined only in the first one, or after one that failed. */
export function previous<Name extends keyof Round>(context: Context, name: Name): Round[Name] | undefined {
  return context.world.previous[name];
}

/** What an earlier check of the same combination made. @throws Error when that check failed */
export function made<Name extends keyof Round>(context: Context, name: Name): Round[Name] {
  const value = context.current[name];
  if (value === undefined) throw new Error(`an earlier check did not make the ${name}`);
  return value;
}

export const revisionHeader = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
