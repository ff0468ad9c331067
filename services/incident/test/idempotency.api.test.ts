import { describe, expect, test } from '@jest/globals';
import type { Knex } from '@tocsin/postgres';
import { type Answer, type Client, eventually } from '@tocsin/testing';
import { serviceForFile } from './service.ts';

const INCIDENTS = '/api/v1/incidents';

const service = await serviceForFile();
const { knex: database } = service;

let workspaces = 7_000;
const newWorkspace = (quotas: Record<string, number | null> = {}) => {
  const id = (workspaces += 1);
  return { id, client: service.as({ workspace: { id, quotas } }) };
};

const KEY = { 'Idempotency-Key': 'k' };

const isReplayed = ({ headers }: Answer) => headers.get('Idempotency-Replayed') === 'true';
const refused = (status: number, code: string) =>
  expect.objectContaining({ status, body: expect.objectContaining({ code }) });

/** Sends a request twenty times at once; returns the response that all of them have, now or after a repetition. */
async function sendAtOnce(send: () => Promise<Answer>): Promise<Answer> {
  const answers = await Promise.all(Array.from({ length: 20 }, send));
  const created = answers.filter((answer) => answer.status === 201 && !isReplayed(answer));
  expect(created).toHaveLength(1);
  for (const answer of answers) {
    if (answer.status === 201) {
      expect(answer.text).toBe(created[0]?.text);
    } else {
      expect(answer).toEqual(refused(409, 'idempotency_in_progress'));
      expect(answer.headers.get('Retry-After')).toBe('1');
    }
  }
  return created[0] as Answer;
}

async function expectReplay(answer: Promise<Answer>, first: Answer): Promise<void> {
  const replay = await answer;
  expect({ status: replay.status, text: replay.text }).toEqual({ status: first.status, text: first.text });
  expect(isReplayed(replay)).toBe(true);
  expect(replay.headers.get('Service-Resource-Version')).toBe('1');
}

/** Runs `work` while a request waits for a row that another transaction has locked; `end` ends the request's session. */
async function whileItWaits(
  { lock, send }: { lock: (trx: Knex.Transaction) => Promise<unknown>; send: () => Promise<Answer> },
  work: (end: () => Promise<unknown>) => Promise<void>,
): Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  await database.transaction(async (trx) => {
    await lock(trx);
    answer = send();
    const pid = await eventually(
      async () => {
        const { rows } = await database.raw(
          `select pid from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and usename = current_user`,
        );
        return rows[0]?.pid as number | undefined;
      },
      { what: 'the wait for the lock' },
    );
    await work(async () => database.raw('select pg_terminate_backend(?, 5000)', [pid]));
  });
  return answer as Promise<Answer>;
}

describe('the Idempotency-Key of an incident', () => {
  test('makes twenty identical requests one incident, whose repetitions use no number', async () => {
    const { client } = newWorkspace();
    const first = await sendAtOnce(async () => client.post(INCIDENTS, { title: 'once' }, KEY));
    await expectReplay(client.post(INCIDENTS, { title: 'once' }, KEY), first);
    expect(await client.post(INCIDENTS, { title: 'twice' }, KEY)).toEqual(refused(409, 'idempotency_key_reused'));
    const { body } = await client.get(INCIDENTS);
    expect(body.incidents).toEqual([{ ...first.body.incident, duration_seconds: expect.any(Number) }]);
    expect((await client.post(INCIDENTS, { title: 'next' })).body.incident.human_id).toBe('INC-2');
  });

  test('has the response of the first request, whatever has changed since', async () => {
    const { id, client } = newWorkspace({ incidents: 1 });
    const send = async () => client.post(INCIDENTS, { title: 'only', status: 'monitoring' }, KEY);
    const first = await send();
    expect(first.status).toBe(201);
    expect(await client.post(INCIDENTS, { title: 'other' })).toEqual(refused(409, 'invalid_resource_state'));
    await expectReplay(send(), first);
    await client.post(`${INCIDENTS}/${first.body.incident.id}/archive`);
    await expectReplay(send(), first);
    // Other settings of the workspace, with which the request would be invalid.
    const strict = service.as({ workspace: { id, short_title_required: true } });
    await expectReplay(strict.post(INCIDENTS, { title: 'only', status: 'monitoring' }, KEY), first);
    expect(await strict.post(INCIDENTS, { title: 'only' }, KEY)).toEqual(refused(409, 'idempotency_key_reused'));
  });

  test('keeps the refusal of a quota, and no number for it', async () => {
    const { id, client } = newWorkspace({ incidents: 0 });
    const send = async (from: Client) => from.post(INCIDENTS, { title: 'x' }, KEY);
    expect(await send(client)).toEqual(refused(409, 'invalid_resource_state'));
    const raised = service.as({ workspace: { id } });
    const replay = await send(raised);
    expect(replay).toEqual(refused(409, 'invalid_resource_state'));
    expect(isReplayed(replay)).toBe(true);
    expect((await raised.post(INCIDENTS, { title: 'x' })).body.incident.human_id).toBe('INC-1');
  });

  test('belongs to its workspace', async () => {
    const answers = await Promise.all(
      [newWorkspace(), newWorkspace()].map(async ({ client }) => client.post(INCIDENTS, { title: 'x' }, KEY)),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.some(isReplayed)).toBe(false);
  });

  test('is in progress while the incident is written, and unused if its session ends', async () => {
    const { id, client } = newWorkspace();
    await client.post(INCIDENTS, { title: 'first' });
    const send = async () => client.post(INCIDENTS, { title: 'x' }, KEY);
    const lock = async (trx: Knex) => trx('incident_counters').where({ workspace_id: id }).forUpdate().select('last');
    const lost = await whileItWaits({ lock, send }, async (end) => {
      expect(await send()).toEqual(refused(409, 'idempotency_in_progress'));
      await end();
    });
    expect(lost).toEqual(refused(503, 'service_unavailable'));
    const again = await client.post(INCIDENTS, { title: 'y' }, KEY);
    expect(again.body.incident).toMatchObject({ title: 'y', human_id: 'INC-2' });
  });
});

describe('the Idempotency-Key of a timeline event', () => {
  const event = { body: 'Deployed' };

  async function declared(quotas?: Record<string, number | null>) {
    const { id: workspaceId, client } = newWorkspace(quotas);
    const { body } = await client.post(INCIDENTS, { title: 'x' });
    const id: number = body.incident.id;
    const path = `${INCIDENTS}/${id}`;
    const add = async (properties: object = event) => client.post(`${path}/timeline`, properties, KEY);
    return { workspaceId, client, id, path, add };
  }

  test('makes twenty identical requests one event', async () => {
    const { client, path, add } = await declared();
    const first = await sendAtOnce(async () => add());
    await expectReplay(add(), first);
    expect((await client.get(path)).body.incident).toMatchObject({ event_count: 1, revision: 2 });
  });

  test('has the response of the first request, whatever has changed since', async () => {
    const { client, path, add } = await declared({ timeline_events: 1 });
    const first = await add();
    expect(first.status).toBe(201);
    expect(await client.post(`${path}/timeline`, event)).toEqual(refused(409, 'invalid_resource_state'));
    await expectReplay(add(), first);
    await client.post(`${path}/archive`);
    await expectReplay(add(), first);
    expect(await add({ body: 'other' })).toEqual(refused(409, 'idempotency_key_reused'));
    await client.delete(`/api/v1/timeline/${first.body.event.id}`);
    await expectReplay(add(), first);
  });

  test('is in progress while the event is written, and unused if its session ends', async () => {
    const { client, id, path, add } = await declared();
    const lock = async (trx: Knex) => trx('incidents').where({ id }).forUpdate().select('id');
    const lost = await whileItWaits({ lock, send: async () => add() }, async (end) => {
      expect(await add()).toEqual(refused(409, 'idempotency_in_progress'));
      await end();
    });
    expect(lost).toEqual(refused(503, 'service_unavailable'));
    expect(await add({ body: 'other' })).toMatchObject({ status: 201 });
    expect((await client.get(path)).body.incident.event_count).toBe(1);
  });
});
