import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '@tocsin/contracts';
import { type Client, eventually, httpClient, type OwnRabbitMq, startRabbitMq } from '@tocsin/testing';
import { describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { APP_NAMES, APPS } from '../apps.ts';
import { processesWith, type RunningCommand } from '../verification/systems/commands.ts';
import { BUSY_MACHINE, type LocalHarness, localHarness } from '../verification/systems/local-harness.ts';
import { replay, stateOf } from './feed/model.ts';
import { type FeedFollower, followByPolling, followByStream } from './feed/readers.ts';
import { startWriters } from './feed/writers.ts';

/**
 * Twenty writers change a workspace while every process and the broker are killed in turn. Two readers follow the feed
 * from the beginning, one by long polls and one by streams that break. Both must get every event once, and know what the
 * API lists.
 */

const WRITERS = 20;
const ROUNDS = 30;
const INCIDENTS = 500;
const SLUG = 'feed';

describeWithServersAndOwnRabbitMq('the event feed', () => {
  let harness: LocalHarness;
  let broker: OwnRabbitMq;
  let services: RunningCommand;
  let client: Client;
  let polling: FeedFollower;
  let streaming: FeedFollower;

  beforeAll(async () => {
    harness = await localHarness();
    broker = await startRabbitMq();
    services = harness.start({
      ...BUSY_MACHINE,
      AMQP_URL: broker.url,
      DEFAULT_WORKSPACE: SLUG,
      RATE_LIMIT_PER_MINUTE: '1000000',
    });
    await services.ready();
    const token = await harness.workspace(SLUG);
    const url = `http://127.0.0.1:${harness.port}`;
    const headers = { Authorization: `Bearer ${token}` };
    client = httpClient(url, headers);
    polling = followByPolling(client);
    // Not really random, so that a failure can be repeated.
    let seed = 1;
    streaming = followByStream({
      url,
      headers,
      random: () => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed / 2_147_483_647;
      },
    });
  });

  afterAll(async () => {
    await Promise.all([polling.stop(), streaming.stop()]);
    services.signal('SIGTERM');
    await services.ended();
    await broker.remove();
    await harness.remove();
  });

  const kill = async (folder: string) => {
    for (const [pid, { parent }] of await processesWith(`${folder}/src/main.ts`)) {
      if (parent === services.pid) process.kill(pid, 'SIGKILL');
    }
  };
  const works = async () =>
    eventually(async () => (await client.get('/api/v1/incidents').catch(() => undefined))?.status === 200, {
      what: 'a response after a kill',
    });

  test('has every event once, and gives a reader the state of the API, while everything is killed in turn', async () => {
    const writers = startWriters(client, { writers: WRITERS, rounds: ROUNDS, incidents: INCIDENTS });
    // A process is killed whenever so many further changes have been made.
    const turns = APP_NAMES.length + 2;
    const afterChanges = async (count: number) =>
      Promise.race([writers.done, eventually(() => writers.changes() >= count, { what: 'changes' })]);
    for (const [index, name] of APP_NAMES.entries()) {
      await afterChanges(((index + 1) * WRITERS * ROUNDS) / turns);
      await kill(APPS[name].folder);
      await works();
    }
    await afterChanges(((turns - 1) * WRITERS * ROUNDS) / turns);
    await broker.kill();
    await writers.done;
    await broker.start();

    const settled = async (follower: FeedFollower) =>
      eventually(
        async () => {
          const model = replay(follower.events);
          const state = await stateOf(client, model);
          return JSON.stringify(sorted(model)) === JSON.stringify(sorted(state));
        },
        { what: 'the state of the API' },
      ).catch(async () => {
        // Shows what differs.
        const model = replay(follower.events);
        expect(sorted(model)).toEqual(sorted(await stateOf(client, model)));
      });
    await settled(polling);
    await settled(streaming);

    for (const { events } of [polling, streaming]) {
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      expectEveryRevision(events);
    }
    expect(streaming.events.map(({ id }) => id)).toEqual(polling.events.map(({ id }) => id));
    const incidents = replay(polling.events)
      .keys()
      .filter((name) => name.startsWith('incident '))
      .toArray();
    expect(incidents.length).toBeGreaterThanOrEqual(INCIDENTS);
    // Otherwise the test would not show anything.
    expect(polling.interruptions).toBeGreaterThan(0);
    expect(streaming.interruptions).toBeGreaterThan(0);
  }, 420_000);
});

const sorted = (model: ReadonlyMap<string, object>) =>
  [...model]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, state]) => [name, Object.fromEntries(Object.entries(state).sort(([a], [b]) => (a < b ? -1 : 1)))]);

/** Each revision of an incident has one event about the incident itself. */
function expectEveryRevision(events: readonly Envelope[]): void {
  const revisions = new Map<number, number[]>();
  for (const { type, data } of events) {
    if (!type.startsWith('incident.')) continue;
    const { id, revision } = (data as { incident: { id: number; revision: number } }).incident;
    revisions.set(id, [...(revisions.get(id) ?? []), revision]);
  }
  for (const [id, found] of revisions) {
    const all = Array.from({ length: Math.max(...found) }, (_, index) => index + 1);
    expect([id, found.toSorted((a, b) => a - b)]).toEqual([id, all]);
  }
}
