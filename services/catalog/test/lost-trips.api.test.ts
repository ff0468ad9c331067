import { expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { behave, startReceiver, testClock, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type Loss, losing } from '@tocsin/testing/faulty-trips';
import { losableDatabase } from '@tocsin/testing/losable-database';
import { stopAfterAll } from '@tocsin/testing/suites';
import { onCallReader } from '../src/clients/on-call-reader.ts';
import { addressCipher } from '../src/usecases/on-call-addresses.ts';
import { refreshOnCall } from '../src/usecases/refresh-on-call.ts';
import { create, newWorkspace, startService } from './service.ts';

const server = stopAfterAll(await startReceiver({ names: ['localhost'] }));
const clock = testClock('2026-11-24T10:00:00.000Z');
const service = stopAfterAll(
  await startService({ clock, ca: server.ca }, { WEBHOOK_TEST_RECEIVERS: server.hostAndPort() }),
);
const answerWith = (name: string) => {
  const event = `BEGIN:VEVENT\r\nUID:1\r\nDTSTART:20261101T000000Z\r\nDTEND:20261231T000000Z\r\nSUMMARY:${name}\r\nEND:VEVENT`;
  const calendar = `BEGIN:VCALENDAR\r\nVERSION:2.0\r\n${event}\r\nEND:VCALENDAR\r\n`;
  server.respond = () => behave.answer(200, { 'content-type': 'text/calendar' }, calendar);
};
const { workspace } = newWorkspace();
const client = service.as({ workspace });
const { id } = await create(client, 'team', { name: 'Payments' });
answerWith('Ana');
await client.put(`/api/v1/teams/${id}/on-call`, { kind: 'icalendar', url: server.url('/shifts.ics') });
// Only the test reads sources.
await service.app.stop();

const database = losableDatabase('catalog', service.database.url('catalog'));
const dependencies = {
  ...{ database, clock, addresses: addressCipher(TEST_SECRET_KEYS) },
  reader: onCallReader({
    egress: { allowed: { testReceivers: new Set([server.hostAndPort()]), networks: [] }, proxy: undefined },
    ca: server.ca,
  }),
  log: createLogger({ app: 'catalog', level: 'silent' }),
};

const REQUEST = 'GET /shifts.ics';
/** Milliseconds: more than a lease lasts, and the wait after a failure. */
const ROUND = 1_200_000;
const ROUNDS = 4;

const stored = async () =>
  service
    .knex('on_call_sources')
    .where({ team_id: id })
    .first('shifts', 'fetched_at', 'failure', 'failing_since', 'failures', 'lease_token', 'lease_until');

/** Runs rounds until the calendar's new shifts are stored. Loses one of their trips. */
async function refresh(name: string, { loss, trip }: { loss: Loss; trip: number }) {
  clock.advance(ROUND);
  answerWith(name);
  return losing({ loss, trip, of: 'work' }, async () => {
    for (let rounds = 1; rounds <= ROUNDS; rounds += 1) {
      await refreshOnCall(dependencies).catch(() => undefined);
      const { shifts, lease_token: token } = await stored();
      if (shifts[0]?.name === name && token === null) return;
      clock.advance(ROUND);
    }
  });
}

test('a source with a lost round trip is read again, and ends as if nothing had been lost', async () => {
  const met = { request: 0, statement: 0 };
  for (const loss of ['before', 'after'] as const) {
    for (let trip = 1; ; trip += 1) {
      const name = `Person ${loss} ${trip}`;
      const { lost } = await refresh(name, { loss, trip });
      if (lost === undefined) break;
      const where = { loss, trip, what: lost.what };
      expect({ ...where, ...(await stored()) }).toEqual({
        ...where,
        shifts: [{ name, emails: [], from: '2026-11-01T00:00:00.000Z', until: '2026-12-31T00:00:00.000Z' }],
        fetched_at: clock.now(),
        ...{ failure: null, failing_since: null, failures: 0, lease_token: null, lease_until: null },
      });
      met[lost.what === REQUEST ? 'request' : 'statement'] += 1;
    }
  }
  expect(Object.values(met)).not.toContain(0);
});
