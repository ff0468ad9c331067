import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { addMilliseconds } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { STEP_LEASE, stepQueue } from '../../src/chat/store/provisioning-store.ts';
import { chatWorkspace, startChatTest } from './chat.ts';

const chat = await startChatTest();
const { service, slack, clock } = chat;

/** Each response is slow but within its timeout; a step may take a minute. */
const GROUPS = 20;
const SLOW = 3_000;

test('a stopping process cancels a slow chat call; another process completes the step, and no event is lost', async () => {
  const workspace = await chatWorkspace(chat);
  const handles = Array.from({ length: GROUPS }, (_, index) => `group-${index}`);
  for (const handle of handles) {
    slack.addUsergroup({ handle, users: [`U${handle}`] });
    slack.before('usergroups.users.list', async () => delay(SLOW, undefined, { ref: false }));
  }
  const incident = await workspace.declare({ create_slack_channel: true, invite_usergroups: handles });
  await eventually(() => slack.calls.some(({ method }) => method === 'usergroups.users.list'), {
    what: 'the first slow answer',
  });
  await service.app.stop();

  const { knex: database } = service;
  const step = { incident_id: incident.id, key: 'invite_usergroups' };
  // Neither succeeded nor failed: it was cancelled.
  expect(await database('provisioning_steps').where(step).first('status', 'attempts', 'failures', 'waits')).toEqual({
    status: 'running',
    attempts: 1,
    failures: 0,
    waits: 0,
  });
  expect(slack.calls.filter(({ method }) => method === 'usergroups.users.list').length).toBeLessThan(GROUPS);
  expect(await database('outbox').select('id')).toEqual([]);
  const free = await stepQueue(database).claim({ now: addMilliseconds(clock.now(), STEP_LEASE), limit: 8 });
  expect(free).toMatchObject([{ incidentId: incident.id, key: 'invite_usergroups' }]);
});
