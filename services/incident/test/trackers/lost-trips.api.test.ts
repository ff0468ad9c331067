import { expect, test } from '@jest/globals';
import { createLogger, createMetrics } from '@tocsin/runtime';
import { replicaPulls } from '@tocsin/service-host';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type Loss, losing } from '@tocsin/testing/faulty-trips';
import { losableDatabase } from '@tocsin/testing/losable-database';
import { configurations } from '../../src/configuration/store/configuration-store.ts';
import { replicas } from '../../src/replicas/replicas.ts';
import { trackerKeyring } from '../../src/trackers/address.ts';
import { trackerClient } from '../../src/trackers/clients/tracker-api.ts';
import { startTrackers } from '../../src/trackers/sync-tickets.ts';
import { startWithTracker } from './trackers.ts';

const { service, receiver, clock, create, followUp } = await startWithTracker();
const { knex } = service;
const tracker = await create('github');
const { fake } = tracker;
const own = await followUp();
await own.ticket(tracker);
await own.shows({ status: 'linked' });
// Only the test looks at tickets.
await service.app.stop();
const [ticket] = await knex('follow_up_tickets').where({ follow_up_id: own.id });
const [unchanged] = await knex('follow_ups').where({ id: own.id });
const [incident] = await knex('incidents').where({ id: unchanged.incident_id }).select('id', 'revision');

const database = losableDatabase('incident', service.database.url('incident'));
const log = createLogger({ app: 'incident', level: 'silent' });
// Nobody owns this follow-up, and no command of it needs a replica.
const owners = { findPeople: async () => [] } as unknown as Parameters<typeof replicas>[0]['owners'];
const dependencies = {
  ...{ database, clock, log, owners, publicUrl: undefined, wakeRelay: () => undefined },
  storage: { check: () => undefined, count: () => undefined },
  configurations: configurations(database),
  replicas: replicas({
    ...{ database, owners, log, versions: service.versions },
    pulls: replicaPulls({ log, metrics: createMetrics('incident'), deadline: 5_000 }),
  }),
  trackerKeys: trackerKeyring(TEST_SECRET_KEYS),
  trackerClient: trackerClient({
    egress: { allowed: { testReceivers: new Set([receiver.hostAndPort()]), networks: [] }, proxy: undefined },
    ca: receiver.ca,
  }),
};

/** Milliseconds: more than the lease of a ticket, and than a tracker waits after it has failed a few times. */
const LATER = 120_000;

/** Makes follow-up and ticket as they were, and lets the tracker have none, or one in a state. */
async function reset({ isDone }: { isDone: boolean | undefined }): Promise<void> {
  await knex('outbox').delete();
  await knex('changelog')
    .where({ incident_id: incident.id })
    .whereRaw('changes::text like ?', ['%follow_ups%'])
    .delete();
  await knex('incidents').where({ id: incident.id }).update({ revision: incident.revision });
  const { incident_id: _, ...columns } = unchanged;
  await knex('follow_ups').where({ id: own.id }).update(columns);
  await knex('trackers').update({ failures: 0, failing_since: null, due_at: clock.now() });
  const made = isDone === undefined ? { status: 'pending', key: null, url: null, state: null, attempted_at: null } : {};
  await knex('follow_up_tickets').update({ ...ticket, ...made, due_at: clock.now() });
  fake.writes.length = 0;
  if (isDone === undefined) fake.issues.length = 0;
  else fake.change(fake.issues[0]!, isDone);
}

const READ = ['due_at', 'state', 'failure', 'lease_token', 'lease_until'];

/** Looks at the ticket until it is as it should be. Loses one of the trips. */
const look = async (state: 'open' | 'done', { loss, trip }: { loss: Loss; trip: number }) =>
  losing({ loss, trip, of: 'work' }, async () => {
    const dispatcher = startTrackers({ ...dependencies, metrics: createMetrics('incident') });
    try {
      await eventually(async () => {
        const [{ due_at: dueAt, ...row }] = await knex('follow_up_tickets').select(...READ);
        if (row.state === state && row.failure === null && row.lease_token === null && dueAt > clock.now()) return true;
        if (row.lease_token === null || row.lease_until <= clock.now()) dispatcher.wake();
        clock.advance(LATER / 10);
        return false;
      });
    } finally {
      await dispatcher.stop();
    }
  });

test.each([
  ['is made once', { isDone: undefined, state: 'open', changes: 0 }],
  ['that is done there has its follow-up done once', { isDone: true, state: 'done', changes: 1 }],
] as const)(
  'a ticket with a lost round trip %s',
  async (_, { isDone, state, changes }) => {
    const met = { request: 0, statement: 0 };
    for (const loss of ['before', 'after'] as const) {
      for (let trip = 1; ; trip += 1) {
        await reset({ isDone });
        const { lost } = await look(state, { loss, trip });
        if (lost === undefined) break;
        const where = { loss, trip, what: lost.what };
        const [after] = await knex('follow_up_tickets').select('status', 'key', 'state', 'lease_token', 'failure');
        const [{ status, revision }] = await knex('follow_ups').where({ id: own.id }).select('status', 'revision');
        const events = await knex('outbox').where('type', 'like', 'follow_up.%').select('type');
        expect({ ...where, after, issues: fake.issues.length, status, revision, events: events.length }).toEqual({
          ...where,
          after: {
            status: 'linked',
            key: tracker.kind.keyOf(fake.issues[0]!),
            state,
            lease_token: null,
            failure: null,
          },
          ...{ issues: 1, status: state, revision: Number(unchanged.revision) + changes, events: changes },
        });
        expect(fake.writes).toEqual([]);
        met[/^(?:GET|POST|PATCH) /.test(lost.what) ? 'request' : 'statement'] += 1;
      }
    }
    expect(Object.values(met)).not.toContain(0);
  },
  120_000,
);
