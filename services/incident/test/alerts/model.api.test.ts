import { request } from 'node:http';
import { expect, test } from '@jest/globals';
import { asUser, testClock, type TestUser } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from '../service.ts';

/**
 * Monitors send notifications of groups whose alerts fire and end, each notification one to three times, in any order, over
 * connections that are cut before the response. The incidents are those of a model that knows nothing of requests.
 */

const NOTIFICATIONS = Number(process.env['TOCSIN_TEST_ALERTS'] ?? 600);
/** About 33 notifications for each. */
const GROUPS = Math.ceil(NOTIFICATIONS / 33);
/** As many as a key may declare in a minute. */
const GROUPS_OF_A_KEY = 20;
const WORKSPACE = { id: 77, version: 0 };
const START = Date.parse('2026-11-24T08:00:00Z');

const service = await serviceForFile({ clock: testClock('2026-11-24T10:00:00.000Z') });

interface Alert {
  status: 'firing' | 'resolved';
  fingerprint: string;
  startsAt: string;
  endsAt?: string;
}

/** What becomes of a group's alerts as its notifications arrive. */
class Model {
  incidents = 0;
  events = 0;
  status = 'open';
  readonly #known = new Map<string, { isFiring: boolean; startsAt: string }>();

  take(alerts: readonly Alert[]): void {
    const changed = { firing: false, resolved: false };
    for (const { status, fingerprint, startsAt } of alerts) {
      const known = this.#known.get(fingerprint);
      const isNewer = known === undefined || startsAt > known.startsAt;
      const isCurrent = isNewer || startsAt === known.startsAt;
      if (status === 'firing' ? isNewer : known?.isFiring === true && isCurrent) changed[status] = true;
      if (isCurrent) {
        const isFiring = status === 'firing' && (isNewer || known.isFiring);
        this.#known.set(fingerprint, { isFiring, startsAt });
      }
    }
    if (changed.firing) {
      if (this.incidents === 0) this.incidents = 1;
      else if (this.status === 'resolved') this.status = 'active';
    }
    this.events += Number(changed.firing) + Number(changed.resolved);
    const isOver = ![...this.#known.values()].some(({ isFiring }) => isFiring);
    if (changed.resolved && isOver) this.status = 'resolved';
  }
}

/** The notifications of a group as a monitor makes them: what has changed since the last one, and what still fires. */
function notificationsOf(steps: readonly { alert: number; after: number }[]): Alert[][] {
  const firing = new Map<number, string>();
  let now = START;
  return steps.map(({ alert, after }) => {
    now += 1_000 * after;
    const at = new Date(now).toISOString();
    const startsAt = firing.get(alert);
    if (startsAt === undefined) firing.set(alert, at);
    else firing.delete(alert);
    const ended: Alert[] =
      startsAt === undefined ? [] : [{ status: 'resolved', fingerprint: `f${alert}`, startsAt, endsAt: at }];
    const still = [...firing].map(([each, since]): Alert => ({
      status: 'firing',
      fingerprint: `f${each}`,
      startsAt: since,
    }));
    return [...ended, ...still];
  });
}

/** Sends a notification again until a response arrives; `cuts`: after how many bytes connections are cut, -1 for all. */
async function insist(user: TestUser, body: object, cuts: readonly number[]): Promise<string> {
  const text = JSON.stringify(body);
  const send = async (cut?: number): Promise<string | undefined> =>
    new Promise((resolve, reject) => {
      const headers = {
        ...asUser('incident', user),
        'Content-Type': 'application/json',
        'Content-Length': Buffer.byteLength(text),
      };
      const url = `${service.app.url}/api/v1/alerts/alertmanager?on_end=resolve`;
      const sent = request(url, { method: 'POST', headers }, (response) => {
        let received = '';
        response.setEncoding('utf8').on('data', (chunk: string) => (received += chunk));
        response.once('end', () => resolve(`${response.statusCode} ${received}`));
      });
      sent.once('error', (error) => (cut === undefined ? reject(error) : resolve(undefined)));
      if (cut === undefined || cut === -1) sent.end(text);
      else sent.write(text.slice(0, cut));
      if (cut !== undefined) sent.once(cut === -1 ? 'finish' : 'socket', () => setImmediate(() => sent.destroy()));
    });
  for (const cut of cuts) await send(cut);
  return (await send()) ?? '';
}

const group = fc.record({
  steps: fc.array(fc.record({ alert: fc.nat({ max: 3 }), after: fc.integer({ min: 1, max: 90 }) }), {
    minLength: 10,
    maxLength: 20,
  }),
  /** Each notification, how often, and how its connections break. */
  sendings: fc.infiniteStream(
    fc.record({
      copies: fc.integer({ min: 1, max: 3 }),
      place: fc.double({ noNaN: true }),
      cuts: fc.array(fc.constantFrom(-1, 20), { maxLength: 1 }),
    }),
  ),
});

test('incidents follow from the alerts, however their notifications arrive', async () => {
  const groups = fc.sample(group, { numRuns: GROUPS });
  let sent = 0;
  const models = await Promise.all(
    groups.map(async ({ steps, sendings }, index) => {
      const model = new Model();
      const user = { workspace: WORKSPACE, key_id: 1 + Math.floor(index / GROUPS_OF_A_KEY) };
      const sending = sendings[Symbol.iterator]();
      const deliveries = notificationsOf(steps).flatMap((alerts) => {
        const { copies } = sending.next().value;
        return Array.from({ length: copies }, () => ({ alerts, ...sending.next().value }));
      });
      for (const { alerts, cuts } of deliveries.toSorted((a, b) => a.place - b.place)) {
        const answer = await insist(
          user,
          {
            groupKey: `g${index}`,
            alerts: alerts.map((each: Alert) => ({ ...each, labels: { alertname: `g${index}` } })),
          },
          cuts,
        );
        expect(answer).toMatch(/^202 /);
        model.take(alerts);
        sent += 1;
      }
      return model;
    }),
  );
  const client = service.as({ workspace: WORKSPACE });
  const seen = new Map<string, { incidents: number; events: number; status: string }>();
  for (let cursor = ''; ;) {
    const { body } = await client.get(`/api/v1/incidents?limit=100${cursor}`);
    for (const { title, event_count: events, status } of body.incidents)
      seen.set(title, { incidents: (seen.get(title)?.incidents ?? 0) + 1, events, status });
    if (!body.pagination.has_more) break;
    cursor = `&cursor=${body.pagination.next_cursor}`;
  }
  const expected = models.flatMap(({ incidents, events, status }, index) =>
    incidents === 0 ? [] : [[`g${index}`, { incidents, events, status }] as const],
  );
  expect(Object.fromEntries(seen)).toEqual(Object.fromEntries(expected));
  expect(sent).toBeGreaterThan(NOTIFICATIONS * 0.7);
  expect(new Set(expected.map(([, { status }]) => status))).toEqual(new Set(['open', 'active', 'resolved']));
}, 1_200_000);
