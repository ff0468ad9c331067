import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, expect, test } from '@jest/globals';
import { asUser, httpClient, testClock } from '@tocsin/testing';
import { losing, loseTrips } from '@tocsin/testing/faulty-trips';
import fc from '@tocsin/testing/fuzz';
import { serviceForFile } from '../service.ts';

/**
 * The law of alerts (contract: Alerts) through the API: two instances of a monitor, people, edited routes, other keys,
 * lost round trips and killed processes, in random order. After each step each alert whose last word is that it fires has an open incident, or one
 * that a person has closed.
 */

const STEPS = Number(process.env['TOCSIN_TEST_ALERT_STEPS'] ?? 500);
const ALERTS = 4;
/** Another severity is another label, by which it would not be recognised in another group. */
const STAYING = ALERTS - 1;
const GROUPS = 3;
const WORKSPACE = 78;
const LATE = 600_000;

const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock });
const people = service.as({ workspace: { id: WORKSPACE }, user_id: 7, key_id: 1 });

const restore = loseTrips();
afterAll(restore);

const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant('notify' as const),
      group: fc.nat({ max: GROUPS - 1 }),
      /** One of the two is five minutes ahead. */
      instance: fc.nat({ max: 1 }),
      changes: fc.array(fc.record({ alert: fc.nat({ max: ALERTS - 1 }), fires: fc.boolean() }), { maxLength: 3 }),
      severity: fc.constantFrom('warning', 'critical'),
      isCut: fc.nat({ max: 3 }).map((number) => number === 0),
      says: fc.constantFrom('all', 'start', 'end'),
      /** Milliseconds after which the process that receives it is killed; the monitor sends it again. */
      killedAfter: fc.oneof(
        { weight: 97, arbitrary: fc.constant(null) },
        { weight: 3, arbitrary: fc.nat({ max: 400 }) },
      ),
      lost: fc.option(
        fc.record({ loss: fc.constantFrom('before' as const, 'after' as const), trip: fc.nat({ max: 14 }) }),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(...(['resolve', 'close', 'archive', 'restore', 'reopen', 'merge'] as const)),
      incident: fc.nat(),
      other: fc.nat(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), alert: fc.nat({ max: STAYING - 1 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      for: fc.constantFrom(60_000, 700_000, 3_700_000, 86_400_000),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('rotate' as const, 'revoke' as const) }) },
);

/** Starts another process of the service, at the present time of the test. */
async function startKillable() {
  const child = fork(path.join(import.meta.dirname, 'process.ts'), [clock.now()], {
    env: { ...process.env, ...service.settings },
  });
  const [url] = (await once(child, 'message')) as [string];
  const kill = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  return { url, kill };
}

/** What a monitor has said of an alert last. */
interface Word {
  group: number;
  fires: boolean;
  start: string | null;
  heardAt: number;
  /** The one that the response named. */
  incident: number | null;
  /** By group: the end that was heard there. An alert that is reported in a group for the first time is new there. */
  ends: Map<number, Pick<Word, 'start' | 'heardAt'>>;
}

test(`holds after each of ${STEPS} steps`, async () => {
  /** Of each instance: when it began to see an alert. */
  const seen = [new Map<number, string>(), new Map<number, string>()];
  const routes = Array.from({ length: ALERTS }, (_, index) => index % GROUPS);
  const words = new Map<string, Word>();
  const incidents: number[] = [];
  const closed = new Set<number>();
  const outcomes = new Map<string, number>();
  /** Processes that were killed before and after they had responded. */
  const kills = { early: 0, late: 0 };
  /** The last steps, for the message of a failure. */
  const trace: unknown[] = [];
  let keys = 100;
  let monitor = keys;

  const notify = async (each: Extract<(typeof steps)[number], { do: 'notify' }>) => {
    const ahead = each.instance * 300_000;
    const now = new Date(Date.parse(clock.now()) + ahead).toISOString();
    const own = seen[each.instance] ?? new Map();
    const changed = new Map(each.changes.map(({ alert, fires }) => [alert, fires]));
    const alerts = Array.from({ length: ALERTS }, (_, alert) => alert).flatMap((alert) => {
      if (routes[alert] !== each.group) return [];
      const fires = changed.get(alert) ?? own.has(alert);
      if (!fires && !changed.has(alert)) return [];
      const start = own.get(alert) ?? now;
      if (fires) own.set(alert, start);
      else own.delete(alert);
      return { alert, fires, start: each.says === 'end' ? null : start, end: each.says === 'start' ? null : now };
    });
    if (alerts.length === 0) return;
    const isOver = alerts.every(({ fires }) => !fires);
    const client = service.as({ workspace: { id: WORKSPACE }, key_id: keys, first_key_id: monitor });
    const body = {
      ...{ version: '4', groupKey: `g${each.group}`, status: isOver ? 'resolved' : 'firing' },
      truncatedAlerts: Number(each.isCut),
      alerts: alerts.map(({ alert, fires, start, end }) => ({
        ...{
          status: fires ? 'firing' : 'resolved',
          fingerprint: `f${alert}`,
          startsAt: start,
          endsAt: fires ? null : end,
        },
        labels: { alertname: `A${alert}`, severity: alert === STAYING ? each.severity : 'warning' },
      })),
    };
    const send = async (to = client) => to.post('/api/v1/alerts/alertmanager?on_end=resolve&new_incidents=3', body);
    if (each.killedAfter !== null) {
      const { url, kill } = await startKillable();
      const user = { workspace: { id: WORKSPACE }, key_id: keys, first_key_id: monitor };
      const response = send(httpClient(url, asUser('incident', user))).then(
        () => (kills.late += 1),
        () => (kills.early += 1),
      );
      await setTimeout(each.killedAfter);
      await kill();
      await response;
    }
    if (each.lost !== null) await losing({ ...each.lost, of: 'requests' }, send);
    const answer = await send();
    expect(answer).toMatchObject({ status: 202 });
    const [result] = answer.body.results;
    trace.push({ at: clock.now(), sent: body, result });
    outcomes.set(result.outcome, (outcomes.get(result.outcome) ?? 0) + 1);
    const incident: number | null = result.incident?.id ?? null;
    if (incident !== null && !incidents.includes(incident)) incidents.push(incident);
    if (result.outcome === 'closed_by_person') expect(result.declared_again_at > clock.now()).toBe(true);
    for (const { alert, fires, start, end } of alerts) {
      const key = `${monitor}/${alert}`;
      const word = words.get(key);
      const received = Date.parse(clock.now());
      const said = { group: each.group, start, heardAt: received, incident };
      const ends = word?.ends ?? new Map();
      const known = word?.fires === true ? word : ends.get(each.group);
      const isLater = known === undefined || start === null || known.start === null || start > known.start;
      /** In the group in which it was, nothing is known of it then. */
      const leave = () => {
        if (word !== undefined && word.group !== each.group) ends.set(word.group, { start: null, heardAt: received });
      };
      if (fires && (isLater || word?.fires === true || received - known.heardAt > LATE)) {
        if (word?.fires === true) leave();
        const isKnown = word?.fires === true && (start === null || word.start === null || start <= word.start);
        words.set(key, { ...said, ends, fires, start: isKnown ? (word.start ?? start) : start });
      } else if (!fires && word?.fires !== true) {
        const end = {
          start: isLater ? (start ?? known?.start ?? null) : known.start,
          heardAt: known?.heardAt ?? received,
        };
        ends.set(each.group, end);
        words.set(key, { ...said, ...end, ends, fires });
      } else if (!fires && word !== undefined && (end === null || word.start === null || end >= word.start)) {
        leave();
        ends.set(each.group, { start: start ?? word.start, heardAt: received });
        words.set(key, { ...said, ends, fires, start: start ?? word.start });
      }
    }
    const lastEnd = alerts.reduce<string | null>(
      (last, { end }) => (end === null || last === null ? null : end > last ? end : last),
      '',
    );
    if (isOver && !each.isCut)
      for (const [key, word] of words)
        if (
          key.startsWith(`${monitor}/`) &&
          word.group === each.group &&
          word.fires &&
          (lastEnd === null || (word.start ?? '') <= lastEnd)
        ) {
          Object.assign(word, { fires: false, heardAt: Date.parse(clock.now()) });
          word.ends.set(word.group, { start: word.start, heardAt: word.heardAt });
        }
    // The whole group is where its last response says.
    for (const [key, word] of words)
      if (key.startsWith(`${monitor}/`) && word.group === each.group) word.incident = incident;
  };

  const act = async (verb: string, id: number, other: number) => {
    const path = `/api/v1/incidents/${id}`;
    if (verb === 'merge') {
      await people.post(`${path}/relations`, { type: 'duplicate_of', incident_id: other });
      verb = 'resolve';
    }
    if ((await people.post(`${path}/${verb}`)).status >= 300) return;
    trace.push({ at: clock.now(), verb, id });
    if (['resolve', 'close', 'archive'].includes(verb)) closed.add(id);
  };

  const steps = fc.sample(step, { numRuns: STEPS });
  for (const each of steps) {
    clock.advance(1_000);
    if (each.do === 'wait') clock.advance(each.for);
    else if (each.do === 'notify') await notify(each);
    else if (each.do === 'edit') routes[each.alert] = ((routes[each.alert] ?? 0) + 1) % GROUPS;
    else if (each.do === 'rotate') keys += 1;
    else if (each.do === 'revoke') {
      keys += 1;
      monitor = keys;
    } else if ('other' in each && incidents.length > 1) {
      const at = (number: number) => incidents.at(-1 - (number % Math.min(6, incidents.length))) as number;
      await act(each.do, at(each.incident), at(each.other));
    }
    const firing = [...words].filter(([key, { fires }]) => fires && key.startsWith(`${monitor}/`));
    for (const id of new Set(firing.map(([, { incident }]) => incident))) {
      const { incident } = (await people.get(`/api/v1/incidents/${id}`)).body;
      const isOpen = incident?.archived_at === null && !['resolved', 'closed'].includes(incident.status);
      if (!isOpen && !closed.has(id ?? 0))
        throw new Error(
          `nothing stands for what fires: ${JSON.stringify({ id, last: trace.slice(-12), firing }, null, 1)}`,
        );
    }
  }
  const expected = ['added', 'closed_by_person', 'declared', 'ended', 'reopened', 'unchanged'];
  expect([...outcomes.keys()].filter((outcome) => expected.includes(outcome)).sort()).toEqual(expected);
  expect(kills.early + kills.late).toBeGreaterThan(0);
  if (STEPS >= 20_000) expect(Math.min(kills.early, kills.late)).toBeGreaterThan(0);
}, 7_200_000);
