import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { INTERNAL_PATHS } from '@tocsin/schemas';
import { asService, behave, eventually, httpClient, refusal, startReceiver, testClock } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { countUnopenedAddresses, holdsSecrets } from '../src/administration.ts';
import { playPagerDuty } from './fakes/pagerduty.ts';
import { create, newWorkspace, startService } from './service.ts';

const server = stopAfterAll(await startReceiver({ names: ['localhost', 'cal.acme.example'] }));
const clock = testClock('2026-11-24T10:00:00.000Z');
const service = stopAfterAll(
  await startService(
    {
      ...{ clock, ca: server.ca, onCallTimeout: 1_500, onCallInterval: 50, firstRunWithin: 50 },
      resolve: async (name) => [name === 'localhost' ? '127.0.0.1' : '10.0.0.1'],
    },
    { WEBHOOK_TEST_RECEIVERS: server.hostAndPort() },
  ),
);

beforeEach(() => {
  server.requests.length = 0;
  clock.toPresent();
});

const HOUR = 3_600_000;
const hours = (count: number) =>
  new Date(Math.floor(Date.parse(clock.now()) / HOUR) * HOUR + count * HOUR).toISOString();
const stamp = (count: number) => hours(count).replaceAll(/[-:]|\.\d+/g, '');
const shift = (from: number, until: number, ...lines: string[]) =>
  [
    'BEGIN:VEVENT',
    `UID:${from}/${lines.join()}`,
    `DTSTART:${stamp(from)}`,
    `DTEND:${stamp(until)}`,
    ...lines,
    'END:VEVENT',
  ].join('\r\n');
const calendar = (...events: string[]) =>
  ['BEGIN:VCALENDAR', 'VERSION:2.0', ...events, 'END:VCALENDAR', ''].join('\r\n');
const answerWith = (...events: string[]) =>
  void (server.respond = () => behave.answer(200, { 'content-type': 'text/calendar' }, calendar(...events)));

/** A workspace with a team; Ana and Ben are users, and Old has left. */
async function prepare() {
  const { workspace } = newWorkspace();
  const { setUser } = service.internalServices;
  const ids = { ana: workspace.id * 10 + 1, ben: workspace.id * 10 + 2, old: workspace.id * 10 + 3 };
  setUser(workspace.id, { id: ids.ana, name: 'Ana Lopez', email: 'Ana@acme.example' });
  setUser(workspace.id, { id: ids.ben, name: 'Ben', email: 'ben@acme.example' });
  const version = setUser(workspace.id, { id: ids.old, name: 'Old', email: 'old@acme.example', active: false });
  const client = service.as({ workspace: { ...workspace, version } });
  const { id } = await create(client, 'team', { name: 'Payments' });
  const path = `/api/v1/teams/${id}/on-call`;
  return {
    ...{ workspace, ids, client, path, teamId: id as number },
    set: async (body: object = { kind: 'icalendar', url: server.url('/secret.ics') }) => client.put(path, body),
    get: async () => (await client.get(path)).body.on_call,
  };
}

const EMPTY = { source: null, url: '', schedule_id: null, fetched_at: null, failure: null, now: [], next: [] };

describe('who is on call', () => {
  test('is nobody until a team has a calendar, then whom it names, and nobody again without it', async () => {
    const { client, path, set, get, ids } = await prepare();
    expect(await get()).toEqual(EMPTY);
    answerWith(
      shift(-2, 2, 'SUMMARY:Primary', 'ATTENDEE:mailto:ana@ACME.example'),
      shift(-1, 1, 'SUMMARY:Secondary: Ben'),
      shift(2, 4, 'SUMMARY:old@acme.example'),
      shift(5, 6, 'SUMMARY:Ana Lopez'),
    );
    const ana = { user_id: ids.ana, name: 'Ana Lopez', email: 'Ana@acme.example' };
    const expected = {
      ...{ source: 'icalendar', url: `https://localhost:${server.port}`, schedule_id: null, failure: null },
      fetched_at: clock.now(),
      now: [
        { ...ana, from: hours(-2), until: hours(2) },
        { user_id: ids.ben, name: 'Ben', email: 'ben@acme.example', from: hours(-1), until: hours(1) },
      ],
      next: [{ user_id: null, name: 'old@acme.example', email: 'old@acme.example', from: hours(2), until: hours(4) }],
    };
    expect(await set()).toMatchObject({ status: 200, body: { on_call: expected } });
    expect(await get()).toEqual(expected);
    const shown = [
      (await client.get(path)).text,
      JSON.stringify(await service.knex('outbox').select('body')),
      JSON.stringify(await service.knex('on_call_sources').select('origin', 'shifts')),
    ];
    expect(shown.join()).not.toContain('secret.ics');
    expect(await client.delete(path)).toMatchObject({ status: 204 });
    expect(await client.delete(path)).toMatchObject({ status: 204 });
    expect(await get()).toEqual(EMPTY);
  });

  test('is read from a schedule of PagerDuty, page by page', async () => {
    const { set, get, ids } = await prepare();
    const user = (name: string, email: string) => ({ name, email });
    const filler = Array.from({ length: 100 }, (_, index) => ({
      ...{ user: user('Eva', 'eva@acme.example'), start: hours(10 + index * 2), end: hours(11 + index * 2) },
    }));
    playPagerDuty(server, {
      token: 'key',
      oncalls: [
        { user: user('A. L.', 'ana@acme.example'), start: null, end: hours(3) },
        ...filler,
        { user: user('Ben', 'else@acme.example'), start: hours(3), end: hours(9) },
      ],
    });
    const source = { kind: 'pagerduty', url: server.url('/'), schedule_id: 'PI7DH85', credential: 'key' };
    expect(await set(source)).toMatchObject({ status: 200 });
    expect(await get()).toMatchObject({
      ...{ source: 'pagerduty', schedule_id: 'PI7DH85' },
      now: [{ user_id: ids.ana, until: hours(3) }],
      next: [{ user_id: ids.ben, from: hours(3), until: hours(9) }],
    });
    expect(server.requests).toHaveLength(2);
    const refused = async (field: string, change: object) =>
      expect(await set({ ...source, ...change })).toMatchObject(refusal(400, 'invalid_request', { field }));
    await refused('credential', { credential: 'other' });
    await refused('schedule_id', { schedule_id: 'P0' });
    server.respond = () => behave.answer(200, {}, '{"oncalls":[{}]}');
    await refused('url', {});
    expect(await get()).toMatchObject({ now: [{ user_id: ids.ana }], failure: null });
  });

  test.each([
    ['url', { kind: 'icalendar' }],
    ['url', { kind: 'icalendar', url: 'http://cal.acme.example/x' }],
    ['url', { kind: 'icalendar', url: 'https://10.0.0.1/x' }],
    ['url', { kind: 'icalendar', url: 'https://user:key@cal.acme.example/x' }],
    ['url', { kind: 'icalendar', url: 'https://cal.acme.example/x' }],
    ['credential', { kind: 'icalendar', url: 'https://cal.acme.example/x', credential: 'k' }],
    ['credential', { kind: 'pagerduty', schedule_id: 'P1' }],
    ['schedule_id', { kind: 'pagerduty', credential: 'k' }],
  ])('has no source without a valid %s: %j', async (field, body) => {
    const { set, get } = await prepare();
    expect(await set(body)).toMatchObject(refusal(400, 'invalid_request', { field }));
    expect(server.requests).toEqual([]);
    expect(await get()).toEqual(EMPTY);
  });

  test('stays what was read last while the source fails, until it can be read again', async () => {
    const { set, get } = await prepare();
    answerWith(shift(-1, 100, 'SUMMARY:Ana Lopez'));
    await set();
    const fetchedAt = clock.now();
    server.respond = () => behave.answer(500);
    clock.advance(600_000);
    const since = clock.now();
    await eventually(async () => (await get()).failure !== null, { what: 'the failure' });
    expect(await get()).toMatchObject({
      ...{ fetched_at: fetchedAt, failure: { reason: 'status', status: 500, since } },
      now: [{ name: 'Ana Lopez' }],
    });
    answerWith(shift(-1, 100, 'SUMMARY:Ben'));
    clock.advance(1_200_000);
    await eventually(async () => (await get()).failure === null, { what: 'the success' });
    expect(await get()).toMatchObject({ fetched_at: clock.now(), now: [{ name: 'Ben' }] });
  });

  test('of an archived team can be seen, but not changed; validating reads nothing', async () => {
    const { client, set, get, path, teamId } = await prepare();
    const body = { kind: 'icalendar', url: server.url() };
    expect(await client.put(`${path}?validate_only=true`, body)).toMatchObject({
      status: 200,
      body: { on_call: { source: 'icalendar', fetched_at: null, now: null, next: null } },
    });
    expect(server.requests).toEqual([]);
    expect(await get()).toEqual(EMPTY);
    await client.delete(`/api/v1/teams/${teamId}`);
    expect(await set()).toMatchObject({ status: 409 });
    expect(await client.delete(path)).toMatchObject({ status: 409 });
    expect(await get()).toEqual(EMPTY);
    expect(await client.get('/api/v1/teams/999999999/on-call')).toMatchObject({ status: 404 });
  });

  test('is told to the incident service as the first user of each team', async () => {
    const { set, ids, teamId, workspace } = await prepare();
    answerWith(shift(-2, 2, 'SUMMARY:somebody'), shift(-1, 1, 'SUMMARY:Ben'));
    await set();
    const ask = { workspace_id: workspace.id, team_ids: [teamId, teamId + 1] };
    const answer = await httpClient(service.app.url, asService('incident', 'catalog')).post(INTERNAL_PATHS.onCall, ask);
    expect(answer.body).toEqual({ teams: [{ team_id: teamId, user_id: ids.ben }] });
  });

  test('needs the keys of its addresses', async () => {
    const { set } = await prepare();
    answerWith();
    await set();
    expect(await holdsSecrets(service.knex)).toBe(true);
    const secretKeys = `other:${Buffer.alloc(32, 7).toString('base64')}`;
    const { checked, unopened } = await countUnopenedAddresses(service.knex, { secretKeys, limit: 100 });
    expect([checked > 0, unopened]).toEqual([true, checked]);
  });
});

describe('a hostile source', () => {
  const daily = (...rules: string[]) =>
    [
      'BEGIN:VEVENT',
      `UID:${randomUUID()}`,
      `DTSTART:${stamp(-1)}`,
      `DTEND:${stamp(1)}`,
      'SUMMARY:Ana Lopez',
      ...rules,
      'END:VEVENT',
    ].join('\r\n');
  const sources: [name: string, respond: () => ReturnType<typeof server.respond>, message: RegExp][] = [
    [
      'repeats every second',
      () => behave.answer(200, {}, calendar(daily('RRULE:FREQ=SECONDLY'))),
      /expected form|too long to read/,
    ],
    [
      'repeats hundreds of events every hour',
      () => behave.answer(200, {}, calendar(...Array.from({ length: 500 }, () => daily('RRULE:FREQ=HOURLY')))),
      /too long to read/,
    ],
    ['is 2 MiB long', () => behave.answer(200, {}, calendar(daily()) + 'x'.repeat(2_097_152)), /larger than 1 MiB/],
    ['is slow', () => behave.slowBody(), /did not arrive in time/],
    ['redirects', () => behave.answer(302, { location: 'https://10.0.0.1/' }), /status 302/],
    ['is compressed', () => behave.answer(200, { 'content-encoding': 'gzip' }, 'x'), /expected form/],
    ['is a page', () => behave.answer(200, {}, '<html>'), /expected form/],
  ];
  test.each(sources)('that %s is refused, and others are read', async (_name, respond, message) => {
    const { set, get } = await prepare();
    server.respond = respond;
    expect(await set()).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', field: 'url', message: expect.stringMatching(message) },
    });
    expect(await get()).toEqual(EMPTY);
    answerWith(shift(-1, 1, 'SUMMARY:Ana Lopez'));
    expect((await set()).body.on_call.now).toHaveLength(1);
  });

  test.each([
    ['on days that no month has', () => calendar(daily('RRULE:FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'))],
    [
      'with many events',
      () =>
        calendar(
          ...Array.from(
            { length: 8_000 },
            (_, nth) =>
              `BEGIN:VEVENT\r\nUID:${nth}\r\nDTSTART:${stamp(nth % 1_000)}\r\nDTEND:${stamp(1 + (nth % 1_000))}\r\nSUMMARY:x\r\nEND:VEVENT`,
          ),
        ),
    ],
    [
      'with faults',
      () => calendar(daily('DTSTART:x', 'RRULE:FREQ=NEVER', 'EXDATE:y', 'ATTENDEE;CN=:', 'BEGIN:VEVENT')),
    ],
  ])('%s stops nobody', async (_name, text) => {
    const [hostile, other] = [await prepare(), await prepare()];
    server.respond = () => behave.answer(200, {}, text());
    expect([200, 400]).toContain((await hostile.set()).status);
    answerWith(shift(-1, 1, 'SUMMARY:Ana Lopez'));
    expect(await other.set()).toMatchObject({ status: 200 });
  });

  test('that hangs lets a workspace set no other one meanwhile, but others do', async () => {
    const [hostile, other] = [await prepare(), await prepare()];
    server.respond = () => behave.hang();
    const hanging = hostile.set();
    await eventually(() => server.requests.length === 1);
    expect(await hostile.set()).toMatchObject({ status: 429 });
    answerWith();
    expect(await other.set()).toMatchObject({ status: 200 });
    expect(await hanging).toMatchObject({ status: 400 });
  });
});
