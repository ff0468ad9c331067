import { expect, test } from '@jest/globals';
import { type Answer, type Client, eventually } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { endKeptSessions, losing, type Loss, type LostTrip } from '@tocsin/testing/faulty-trips';
import type { ApiDescription } from '../../../../gateway/src/description.ts';
import { CONTRACTS } from '../contract-schemas.ts';
import { type Example, examplesOf, sendExample } from '../../systems/examples.ts';
import { countMet } from '../../history/met.ts';
import { losableSystem } from './losable-system.ts';
import { comparable, type State } from './stored-state.ts';

/** All trips, and not only a sample of them. */
const IS_WHOLE = process.env['TOCSIN_TEST_TRIPS'] === 'all';
const SEED = fc.readConfigureGlobal().seed ?? Date.now() % 2 ** 31;
const chosen = fc.sample(fc.integer({ min: 0, max: 9 }), { seed: SEED, numRuns: 5_000 });

/**
 * The trips to lose, of those that were made without a loss. In a sample a tenth of them, and those whose answer is asked
 * for most: of a change, and of the last trip before it, which leaves the key locked.
 */
function* trips(loss: Loss, allTrips: readonly LostTrip[], isKeyed: boolean): Generator<number> {
  for (let trip = 1; trip <= allTrips.length || IS_WHOLE; trip += 1) {
    const [own, next] = allTrips.slice(trip - 1);
    const matters = loss === 'after' && (own?.mayChange === true || (isKeyed && next?.mayChange === true));
    if (IS_WHOLE || matters || chosen.pop() === 0) yield trip;
  }
}

const system = losableSystem();

/** What the runs have met: each must occur, or they would prove less than they say. */
const MET = [
  'a lost COMMIT',
  'an unknown outcome',
  'a key in progress',
  'a replay',
  'no change',
  'a repetition',
] as const;
const met = countMet();
const see = (what: (typeof MET)[number]) => met.see(what);
const refused: string[] = [];
const faults: object[] = [];

/** What the write only starts: the gateway is told of a configuration later, if it does not answer, and at least once. */
const LATER: Readonly<Record<string, readonly string[]>> = {
  replaceConfiguration: [
    'incident.unannounced_configurations',
    ...['workspaces', 'identity_version', 'outbox'].map((table) => `gateway.${table}`),
  ],
};

/** A bulk of one item has the state of before or after; its answer is that of the item. */
const oneItem = (example: Example): Example =>
  example.id === 'bulkIncidents'
    ? { ...example, body: { items: (example.body as { items: unknown[] }).items.slice(0, 1) } }
    : example;
const send = async (client: Client, write: Example): Promise<Answer> => {
  const answer = await sendExample(client, write);
  if (write.id !== 'bulkIncidents' || answer.status !== 200) return answer;
  const [{ status, incident, error }] = answer.body.results;
  return { ...answer, status, body: error ?? { incident }, text: JSON.stringify(error ?? { incident }) };
};

const isKeyed = ({ id }: Example) => CONTRACTS[id]?.idempotent === true;
const isUnknown = ({ body }: Answer) => body?.details?.outcome === 'unknown';
const answered = ({ status, text }: Answer) => [status, comparable(text).replace(/"request_id":"[^"]*"/, '')];
const without = (state: State, tables: readonly string[] = []): State =>
  Object.fromEntries(Object.entries(state).filter(([name]) => !tables.includes(name)));
const same = (one: State, other: State) => Object.keys(one).every((name) => one[name] === other[name]);
const difference = (one: State, other: State) =>
  Object.keys(one)
    .filter((name) => one[name] !== other[name])
    .map((name) => [name, one[name], other[name]]);

/** Writes that need a chat, a calendar, a receiver or a session, which the sample data do not have: their examples are refused. */
const REFUSED = [
  'previewIncidentChannelName',
  'setIncidentChannelName',
  'renameIncidentChannel',
  'setTeamOnCall',
  'verifyWebhook',
  'resumeWebhook',
  'redeliverWebhook',
  'revokeSession',
];

interface Run {
  write: Example;
  before: State;
  after: State;
  expected: Answer;
}

async function loseTrip(
  { write, before, after, expected }: Run,
  loss: Loss,
  trip: number,
): Promise<LostTrip | undefined> {
  const { state, client } = system;
  const { result: answer, lost } = await losing({ loss, trip, keepsSession: isKeyed(write) }, async () =>
    send(client, write),
  );
  if (lost === undefined) return undefined;
  const read = async () => without(await state.read(), LATER[write.id]);
  const now = await read();
  const [isBefore, isAfter] = [same(now, before), same(now, after)];
  const seen = { operation: write.id, loss, trip, lost, status: answer.status, text: answer.text.slice(0, 300) };
  const fault = (what: string, more: object = {}) => void faults.push({ what, ...seen, ...more });
  if (!isBefore && !isAfter) fault('a state between', { difference: difference(now, after).slice(0, 3) });
  if (answer.status < 400 || (expected.status >= 400 && answer.status === expected.status)) {
    if (!isAfter) fault('a success without its change', { difference: difference(now, after).slice(0, 3) });
    if (JSON.stringify(answered(answer)) !== JSON.stringify(answered(expected))) fault('another response');
  } else if (answer.status !== 503) fault('an unexpected status');
  else if (isUnknown(answer)) {
    see('an unknown outcome');
    if (!lost.mayChange) fault('an outcome that is known');
  } else if (!isBefore) fault('a change that the response denies');
  if (lost.mayChange && loss === 'after' && isAfter) see('a lost COMMIT');
  if (isBefore && !isAfter) see('no change');
  if (answer.status < 400 && isAfter) return lost;

  // Another write, if nobody can see whether the first one was carried out.
  if (!isKeyed(write) && (!isBefore || isAfter)) return lost;
  if (isBefore) await state.closeGaps();
  const repeat = await eventually(async () => {
    const tried = await send(client, write);
    if (tried.body?.code !== 'idempotency_in_progress') return tried;
    // The server has not noticed yet that the connection of the first request is lost.
    see('a key in progress');
    endKeptSessions();
    await state.closeGaps();
    return undefined;
  });
  const final = await read();
  const repeated = { repeat: [repeat.status, repeat.text, expected.text] };
  if (JSON.stringify(answered(repeat)) !== JSON.stringify(answered(expected)))
    fault('another response to the repetition', repeated);
  if (!same(final, after))
    fault('another state after the repetition', { ...repeated, difference: difference(final, after).slice(0, 3) });
  if (repeat.headers.get('Idempotency-Replayed') === 'true') see('a replay');
  else see('a repetition');
  return lost;
}

const WRITES_TIMEOUT = 1_200_000;

test(
  'a lost round trip of a write leaves the state of before or after, and a true response',
  async () => {
    const { state, client } = system;
    await system.publishing(async () => undefined);
    const description = (await client.get('/api/v1/openapi.json')).body as ApiDescription;
    for (const example of examplesOf(description).filter(({ method }) => method !== 'get')) {
      // Only creates look at the key.
      const write = { ...oneItem(example), headers: { ...example.headers, 'Idempotency-Key': example.id } };
      await state.save();
      const before = await state.read();
      const { result: expected, trips: allTrips } = await losing({ loss: 'before', trip: 0 }, async () =>
        send(client, write),
      );
      const after = await state.read();
      if (expected.status !== write.success) refused.push(write.id);
      for (const loss of ['before', 'after'] as const) {
        for (const trip of trips(loss, allTrips, isKeyed(write))) {
          endKeptSessions();
          await state.restore();
          if ((await loseTrip({ write, before, after, expected }, loss, trip)) === undefined) break;
        }
      }
      endKeptSessions();
      await eventually(async () => (await state.openTransactions()) === 0, { what: 'the end of all transactions' });
      await state.restore();
      await system.publishing(async () => send(client, write));
    }
    expect(faults).toEqual([]);
    expect(refused).toEqual(REFUSED);
    expect(met.missing(MET)).toEqual([]);
  },
  WRITES_TIMEOUT,
);
