import { expect, test } from '@jest/globals';
import { createLogger, createMetrics } from '@tocsin/runtime';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { type Loss, losing } from '@tocsin/testing/faulty-trips';
import { losableDatabase } from '@tocsin/testing/losable-database';
import { chats } from '../../src/chat/chats.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';
import { startProvisioner } from '../../src/chat/provisioner.ts';
import { STEP_LEASE } from '../../src/chat/store/provisioning-store.ts';
import { setChannelUpdates } from '../../src/administration.ts';
import { chatWorkspace, INCIDENTS, startChatTest } from './chat.ts';

const { service, slack, clock, ...chat } = await startChatTest();
const { knex } = service;
slack.addUsergroup({ handle: 'oncall', users: ['U1'] });
const workspace = await chatWorkspace({ service, slack, clock, ...chat }, { connected: false });
const { id } = await workspace.declare({ create_slack_channel: true, invite_usergroups: ['oncall'] });
await workspace.provisioned(id);
await workspace.connect();
await setChannelUpdates(knex, workspace.id, true);
const other = slack.addChannel({ name: 'linked', creator: slack.user });
const { id: linked } = await workspace.declare({ slack_channel_id: other.id });
await workspace.client.post(`${INCIDENTS}/${linked}/resolve`);
await eventually(() => other.messages.length === 1);
// Only the test provisions.
await service.app.stop();

const database = losableDatabase('incident', service.database.url('incident'));
const dependencies = {
  database,
  clock,
  chats: chats({
    database,
    secretKeys: TEST_SECRET_KEYS,
    open: (token, _timeout, signal) => slackChat({ token, apiUrl: slack.url, timeout: 10_000, signal }),
  }),
  // Nobody leads this response.
  owners: { findPeople: async () => [] },
  wakeRelay: () => undefined,
};
const log = createLogger({ app: 'incident', level: 'silent' });

/** Makes the provisioning as new. */
async function request(): Promise<void> {
  slack.channels.length = 0;
  slack.calls.length = 0;
  await knex('outbox').delete();
  await knex('changelog').where({ incident_id: id }).delete();
  await knex('incidents').where({ id }).update({ slack_channel_id: '', revision: 1 });
  await knex('provisionings').update({ channel_name: null, named_at: null });
  const pending = { status: 'pending', attempts: 0, failures: 0, error_code: null, lease: null };
  await knex('provisioning_steps').update({ ...pending, due_at: null });
  await knex('provisioning_steps').where({ key: 'slack_channel' }).update({ due_at: clock.now() });
}

/** Runs a provisioner until all steps have ended, and loses one of its trips. */
const provision = async (loss: Loss, trip: number) =>
  losing({ loss, trip, of: 'work' }, async () => {
    const provisioner = startProvisioner({ dependencies, log, metrics: createMetrics('incident') });
    try {
      await eventually(async () => {
        const open = await knex('provisioning_steps').whereIn('status', ['pending', 'running']).select('key');
        if (open.length === 0) return true;
        clock.advance(1_000);
        provisioner.wake();
        return false;
      });
    } finally {
      await provisioner.stop();
    }
  });

/** Both, and again while something was not met: looks for due work come between the trips of an attempt. */
function* lossesUntilMet(met: Readonly<Record<string, number>>): Generator<Loss> {
  do yield* ['before', 'after'] as const;
  while (Object.values(met).includes(0));
}

test('a provisioning with a lost round trip makes one channel, and one change of the incident', async () => {
  const met = { statement: 0, createdChannel: 0, otherCall: 0 };
  for (const loss of lossesUntilMet(met)) {
    for (let trip = 1; ; trip += 1) {
      await request();
      const { lost } = await provision(loss, trip);
      if (lost === undefined) break;
      const steps = await knex('provisioning_steps').select('status', 'error_code', 'lease');
      const [incident] = await knex('incidents').where({ id }).select('slack_channel_id', 'revision');
      const events = await knex('outbox').select('type');
      const changes = await knex('changelog').where({ incident_id: id }).select('revision');
      const [channel, ...others] = slack.channels;
      const done = { status: 'succeeded', error_code: null, lease: null };
      const where = { loss, trip, what: lost.what };
      expect({ ...where, steps, incident, events, changes, others }).toEqual({
        ...where,
        steps: [done, done],
        incident: { slack_channel_id: channel?.id, revision: 2 },
        events: [{ type: 'incident.updated' }],
        changes: [{ revision: 2 }],
        others: [],
      });
      expect(new Set(channel?.members)).toEqual(new Set([slack.user, 'U1']));
      if (!lost.what.startsWith('POST /api/')) met.statement += 1;
      else if (lost.what.endsWith('conversations.create')) met.createdChannel += 1;
      else met.otherCall += 1;
    }
  }
});

/** Lets one provisioner after the other claim the message until it is posted, and loses one of their trips. */
const post = async (loss: Loss, trip: number) =>
  losing({ loss, trip, of: 'work' }, async () => {
    const read = async () => knex('channel_updates').first<{ status: string; attempts: number }>('status', 'attempts');
    for (let claims = 0, { status } = await read(); status !== 'succeeded'; { status } = await read()) {
      clock.advance(STEP_LEASE);
      const provisioner = startProvisioner({ dependencies, log, metrics: createMetrics('incident') });
      await eventually(async () => {
        provisioner.wake();
        return (await read()).attempts > claims;
      });
      // It waits for the attempt, so no lease of a running one expires.
      await provisioner.stop();
      claims = (await read()).attempts;
    }
  });

test('a message is posted again only if it cannot be known that it was posted', async () => {
  const met = { once: 0, beforeStored: 0, afterPosted: 0 };
  slack.channels.push(other);
  for (const loss of lossesUntilMet(met)) {
    for (let trip = 1; ; trip += 1) {
      other.messages.length = 0;
      const due = { status: 'pending', attempts: 0, lease: null, due_at: clock.now() };
      await knex('channel_updates').update({ ...due, posted_entry: knex.raw('last_entry - 1') });
      const { lost } = await post(loss, trip);
      if (lost === undefined) break;
      const [update] = await knex('channel_updates').select('status', 'error_code', 'lease');
      const [changelog] = await knex('changelog').where({ incident_id: linked }).select('id');
      const posted = await knex('channel_updates').first('posted_entry');
      const isUnknown =
        loss === 'after' ? lost.what.endsWith('chat.postMessage') : lost.what.includes('set posted_entry');
      const texts = Array.from({ length: isUnknown ? 2 : 1 }, () => 'INC-2 Checkout is down\nStatus: Open → Resolved');
      const where = { loss, trip, what: lost.what };
      expect({ ...where, update, posted, texts: other.messages.map(({ text }) => text) }).toEqual({
        ...where,
        update: { status: 'succeeded', error_code: null, lease: null },
        posted: { posted_entry: changelog?.id },
        texts,
      });
      met[!isUnknown ? 'once' : loss === 'before' ? 'beforeStored' : 'afterPosted'] += 1;
    }
  }
});
