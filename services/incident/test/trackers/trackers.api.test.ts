import { describe, expect, test } from '@jest/globals';
import { eventually, refusal } from '@tocsin/testing';
import { addMilliseconds } from '@tocsin/runtime';
import { SCOPES } from '@tocsin/schemas';
import { startWithTracker, TRACKERS, version } from './trackers.ts';

const { service, clock, later, client, create, followUp } = await startWithTracker();
const MINUTE = 60_000;
const GITHUB = { name: 'Issues', kind: 'github', project: 'acme/shop', credential: 'github_pat_secret' };

describe('a tracker', () => {
  test('shows scheme and host alone, and its secret once', async () => {
    const { path, secret } = await create('jira');
    const shown = [
      ...[
        (await client.get(path)).text,
        (await client.get(TRACKERS)).text,
        (await client.get('/api/v1/trackers')).text,
      ],
      JSON.stringify(await service.knex('outbox').select('body')),
      JSON.stringify(await service.knex('trackers').select('name', 'origin', 'project', 'workspace')),
    ].join('\n');
    expect(secret).toMatch(/^tracksec_[\w-]{43}$/);
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('ana@acme.example');
    expect((await client.get(path)).body.tracker).toMatchObject({
      ...{ kind: 'jira', url: 'https://localhost', project: 'OPS', issue_type: 'Task', status: 'active' },
    });
  });

  test.each([
    ['url', { kind: 'jira', project: 'OPS' }],
    ['url', { url: 'http://api.github.com' }],
    ['url', { url: 'https://10.0.0.1' }],
    ['url', { url: 'https://user:password@api.github.com' }],
    ['url', { url: 'https://api.github.com/?x=1' }],
    ['project', { project: 'shop' }],
    ['project', { project: '../..' }],
    ['project', { kind: 'linear', project: 'ops team' }],
    ['issue_type', { issue_type: 'Task' }],
    ['credential', { credential: 'a\r\nb' }],
  ])('is refused by %s: %j', async (field, body) => {
    expect(await client.post(TRACKERS, { ...GITHUB, ...body })).toMatchObject(
      refusal(400, 'invalid_request', { field }),
    );
  });

  test('has a name of its own, and is changed by its revision', async () => {
    const { path, current } = await create('github', { name: 'Only one' });
    expect(await client.post(TRACKERS, { ...GITHUB, name: 'ONLY ONE' })).toMatchObject({ status: 409 });
    const filters = { severities: ['sev1'], services: [], team_ids: [] };
    const changed = await client.patch(path, { auto_filters: filters }, version(1));
    expect(changed.body.tracker).toMatchObject({ revision: 2, auto_filters: filters, url: 'https://localhost' });
    expect(await client.patch(path, { name: 'Late' }, version(1))).toMatchObject({ status: 412 });
    // Nobody gets the token who only says where else to send it.
    const elsewhere = await client.patch(path, { url: 'https://github.acme.example/api/v3' }, version(2));
    expect(elsewhere).toMatchObject(refusal(400, 'invalid_request', { field: 'credential' }));
    await client.post(`${path}/archive`);
    expect(await current()).toMatchObject({ status: 'archived', auto_filters: null });
    expect(await client.post(`${path}/resume`)).toMatchObject({ status: 409 });
  });

  test('says whether it knows the project, and makes nothing', async () => {
    const { path, fake } = await create('github');
    const accepted = { is_accepted: true, reason: null, status: null };
    expect((await client.post(`${path}/test`)).body.test).toEqual(accepted);
    fake.faults.push({ status: 401 });
    const denied = { is_accepted: false, reason: 'denied', status: 401 };
    expect((await client.post(`${path}/test`)).body.test).toEqual(denied);
    expect(fake.issues).toEqual([]);
  });
});

describe('what fails', () => {
  test('for a refused credential is shown on the follow-up, makes the tracker fail, and can be tried again', async () => {
    const tracker = await create('github');
    tracker.fake.faults.push({ status: 401 });
    const own = await followUp();
    await own.ticket(tracker);
    await eventually(async () => (await own.current()).ticket.failure !== null);
    expect((await own.current()).ticket).toMatchObject({
      ...{ status: 'pending', key: null, failure: { reason: 'denied', status: 401, at: clock.now() } },
    });
    expect(await tracker.current()).toMatchObject({ status: 'failing', last_failure: { reason: 'denied' } });
    expect((await own.ticket(tracker)).body.follow_up.ticket).toMatchObject({ status: 'pending', failure: null });
    await own.shows({ status: 'linked' });
    await eventually(async () => (await tracker.current()).status === 'active');
    expect((await tracker.current()).retry_at).toBeNull();
    expect(tracker.fake.issues).toHaveLength(1);
  });

  test('for a limit waits as long as the tracker says, whoever asks again', async () => {
    const tracker = await create('jira');
    tracker.fake.faults.push({ status: 429, headers: { 'retry-after': '1800' } });
    const own = await followUp();
    await own.ticket(tracker);
    await eventually(async () => (await own.current()).ticket.failure?.reason === 'rate_limited');
    await own.ticket(tracker);
    const { rows } = await service.knex.raw('select due_at from trackers where id = ?', [tracker.id]);
    expect(rows[0].due_at).toEqual(addMilliseconds(clock.now(), 30 * MINUTE));
    expect(tracker.fake.issues).toEqual([]);
    await later(30 * MINUTE);
    await own.shows({ status: 'linked' });
  });

  test('in the tracker is tried again, without a second ticket', async () => {
    const tracker = await create('gitlab');
    tracker.fake.faults.push({ status: 500 });
    const own = await followUp();
    await own.ticket(tracker);
    await eventually(async () => (await own.current()).ticket.failure?.status === 500);
    await later(2 * MINUTE);
    await own.shows({ status: 'linked', failure: null });
    expect(tracker.fake.issues).toHaveLength(1);
  });

  test('for one ticket is not tried by itself, and delays no other', async () => {
    const tracker = await create('github');
    tracker.fake.faults.push({ status: 422 });
    const own = await followUp();
    await own.ticket(tracker);
    await own.shows({ status: 'failed' });
    const other = await followUp();
    await other.ticket(tracker);
    await other.shows({ status: 'linked' });
    expect((await own.set('done')).status).toBe(200);
    await later(24 * 60 * MINUTE);
    expect((await own.current()).ticket).toMatchObject({
      status: 'failed',
      failure: { reason: 'status', status: 422 },
    });
    await own.ticket(tracker);
    await own.shows({ status: 'linked' });
  });

  test('without a transition, or with a ticket that is gone, or an archived incident, stays visible', async () => {
    const tracker = await create('jira');
    const own = await followUp();
    await own.ticket(tracker);
    await own.shows({ status: 'linked' });
    const [issue] = tracker.fake.issues;
    const reasonIs = async (reason: string) =>
      eventually(async () => (await own.current()).ticket.failure?.reason === reason);
    await later(0);
    tracker.fake.faults.push(undefined, { status: 200, body: { transitions: [] } });
    await own.set('done');
    await reasonIs('no_transition');
    await own.ticket(tracker);
    await own.shows({ state: 'done', failure: null });
    await client.post(`${own.of}/archive`);
    tracker.fake.change(issue!, false);
    await later(24 * 60 * MINUTE);
    await reasonIs('archived');
    expect((await own.current()).status).toBe('done');
    await client.post(`${own.of}/restore`);
    await own.ticket(tracker);
    await own.shows({ state: 'open', failure: null });
    expect((await own.current()).status).toBe('open');
    tracker.fake.faults.push({ status: 404 });
    await later(20 * MINUTE);
    await reasonIs('gone');
  });
});

describe('a ticket', () => {
  test('is made by itself if the filters select the incident, and is in one tracker only', async () => {
    const tracker = await create('github', { auto_filters: { severities: ['sev1'] } });
    const other = await followUp({}, { severity: 'sev2' });
    expect(other.created.ticket).toBeNull();
    const own = await followUp({}, { severity: 'sev1' });
    expect(own.created.ticket).toMatchObject({ tracker_id: tracker.id, status: 'pending' });
    await own.shows({ status: 'linked' });
    const listed = (await client.get(`${own.of}/follow-ups`)).body.follow_ups;
    expect(listed[0].ticket).toMatchObject({ key: 'acme/shop#1' });
    const second = await create('jira');
    expect(await own.ticket(second)).toMatchObject({ status: 409 });
    expect(await own.ticket({ id: 999_999 })).toMatchObject(refusal(400, 'invalid_request', { field: 'tracker_id' }));
    expect((await own.unlink()).status).toBe(204);
    expect((await own.current()).ticket).toBeNull();
    expect((await own.ticket(second)).status).toBe(202);
    await client.post(`${tracker.path}/archive`);
  });

  test('of a restricted incident needs a tracker that gets those', async () => {
    const tracker = await create('github', { auto_filters: {} });
    const secret = await followUp({ title: 'Secret' }, { restricted: true });
    expect(secret.created.ticket).toBeNull();
    expect(await secret.ticket(tracker)).toMatchObject({ status: 409 });
    const restricted = { include_restricted: true };
    const without = service.as({
      workspace: { id: 1 },
      scopes: SCOPES.filter((scope) => scope !== 'restricted:read'),
    });
    expect(await without.patch(tracker.path, restricted, version(1))).toMatchObject({ status: 403 });
    expect((await client.patch(tracker.path, restricted, version(1))).status).toBe(200);
    await secret.ticket(tracker);
    await secret.shows({ status: 'linked' });
    expect((await without.get(tracker.path)).body.tracker.last_success_at).toBeNull();
    await client.post(`${tracker.path}/archive`);
  });

  test('waits while its tracker is paused, and goes with its follow-up', async () => {
    const tracker = await create('github');
    const own = await followUp();
    await own.ticket(tracker);
    await own.shows({ status: 'linked' });
    await client.post(`${tracker.path}/pause`);
    await own.set('done');
    expect((await client.get('/api/v1/trackers')).body.trackers).not.toContainEqual(
      expect.objectContaining({ id: tracker.id }),
    );
    await client.post(`${tracker.path}/resume`);
    await own.shows({ state: 'done' });
    expect((await client.delete(own.path)).status).toBe(204);
    expect(await service.knex('follow_up_tickets').where({ follow_up_id: own.id })).toEqual([]);
  });
});
