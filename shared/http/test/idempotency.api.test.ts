import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import path from 'node:path';
import { type Knex, openDatabase } from '@tocsin/runtime';
import { createTestDatabase, type TestDatabase, testPrincipal } from '@tocsin/testing';
import {
  DomainError,
  IDEMPOTENCY_HOURS,
  idempotently,
  invalidRequest,
  type Reply,
  sweepIdempotencyKeys,
  invalidState,
} from '../src/index.ts';

let database: TestDatabase;
let knex: Knex;
beforeAll(async () => {
  database = await createTestDatabase({
    schema: 'idempotency',
    migrations: path.join(import.meta.dirname, 'migrations'),
  });
  knex = openDatabase({ url: database.url('idempotency'), schema: 'idempotency', application: 'test', poolSize: 5 });
});
afterAll(async () => {
  await knex.destroy();
  await database.drop();
});

let counter = 0;
const newKey = () => `key-${(counter += 1)}`;

interface Attempt {
  key: string;
  body?: string;
  user?: number;
  parent?: number;
  requestId?: string;
  hours?: number;
  work?: () => void;
}

const requestOf = ({
  key,
  body = '{}',
  user = 42,
  parent = 1,
  requestId = 'r-1',
  hours = IDEMPOTENCY_HOURS,
}: Omit<Attempt, 'work'>) => ({
  principal: testPrincipal({ user_id: user }),
  routeId: 'createThing',
  idempotencyKey: key,
  idempotencyHours: hours,
  params: { id: parent },
  bytes: Buffer.from(body),
  requestId,
});

/** Creates a thing with an idempotency key. Returns the response, or the error code. */
async function create({ work, ...attempt }: Attempt): Promise<Reply | string> {
  try {
    return await idempotently(knex, requestOf(attempt), async (claim) =>
      knex.transaction(async (trx) => {
        work?.();
        const [thing] = await trx('things').insert({ key: attempt.key }).returning<{ id: number }[]>('id');
        const text = JSON.stringify(thing);
        await claim?.finish(trx, { status: 201, text, revision: 1 });
        return { status: 201, text, revision: 1 };
      }),
    );
  } catch (error) {
    if (error instanceof DomainError) return error.code;
    throw error;
  }
}

const things = async (key: string) => (await knex('things').where({ key }).select('id')).length;
const age = async (key: string, interval: string) =>
  knex('idempotency_keys')
    .where({ key })
    .update({ claimed_at: knex.raw(`now() - interval '${interval}'`) });
/** Leaves the key as a process that crashes during the request would. */
const abandon = async (key: string, state: 'claimed' | 'outside') => {
  await create({ key });
  await knex('things').where({ key }).delete();
  await knex('idempotency_keys').where({ key }).update({ state, status: null, body: null });
};

describe('the same key', () => {
  test('with the same bytes gets exactly the same response', async () => {
    const key = newKey();
    const first = await create({ key });
    expect(await create({ key })).toEqual({ ...(first as Reply), headers: { 'Idempotency-Replayed': 'true' } });
    expect(await things(key)).toBe(1);
  });

  test('with other bytes is rejected, even if the JSON is equivalent', async () => {
    const key = newKey();
    await create({ key, body: '{"a":1}' });
    expect(await create({ key, body: '{"a": 1}' })).toBe('idempotency_key_reused');
    const refused = idempotently(knex, requestOf({ key }), async () => ({ status: 201 }));
    await expect(refused).rejects.toMatchObject({ code: 'idempotency_key_reused', field: 'Idempotency-Key' });
  });

  test('for another parent is rejected', async () => {
    const key = newKey();
    await create({ key, parent: 1 });
    expect(await create({ key, parent: 2 })).toBe('idempotency_key_reused');
  });

  test('of another user is a different key', async () => {
    const key = newKey();
    await create({ key });
    await create({ key, user: 43 });
    expect(await things(key)).toBe(2);
  });

  test('is unused again after a day', async () => {
    const key = newKey();
    await create({ key });
    await age(key, '25 hours');
    expect(await create({ key, body: 'different' })).toMatchObject({ status: 201 });
    expect(await things(key)).toBe(2);
  });

  test('in thirty concurrent requests creates one thing', async () => {
    const key = newKey();
    const answers = await Promise.all(Array.from({ length: 30 }, async () => create({ key })));
    expect(answers.every((answer) => answer === 'idempotency_in_progress' || typeof answer === 'object')).toBe(true);
    expect(await things(key)).toBe(1);
  });
});

describe('an error', () => {
  test('in the input leaves the key unused', async () => {
    const key = newKey();
    const refuse = () => {
      throw invalidRequest('team_id', 'no');
    };
    expect(await create({ key, work: refuse })).toBe('invalid_request');
    expect(await create({ key, body: 'other' })).toMatchObject({ status: 201 });
  });

  test('by a conflict with the state is an outcome and is stored', async () => {
    const key = newKey();
    const refuse = () => {
      throw invalidState('archived');
    };
    expect(await create({ key, work: refuse })).toBe('invalid_resource_state');
    const replay = (await create({ key, requestId: 'r-2' })) as Reply;
    expect(replay.status).toBe(409);
    expect(JSON.parse(replay.text ?? '')).toEqual({
      code: 'invalid_resource_state',
      message: 'archived',
      request_id: 'r-2',
    });
    expect(await things(key)).toBe(0);
  });

  test('that is internal leaves the key unused', async () => {
    const key = newKey();
    const fail = () => {
      throw new TypeError('a bug');
    };
    await expect(create({ key, work: fail })).rejects.toThrow('a bug');
    expect(await create({ key })).toMatchObject({ status: 201 });
  });
});

describe('a process that crashed during the request', () => {
  test('leaves its claim to the next request once the lease has expired', async () => {
    const key = newKey();
    await abandon(key, 'claimed');
    expect(await create({ key })).toBe('idempotency_in_progress');
    await age(key, '2 minutes');
    expect(await create({ key })).toMatchObject({ status: 201 });
  });

  test('cannot commit after its claim was taken over', async () => {
    const key = newKey();
    let taken: Reply | string | undefined;
    const slow = idempotently(knex, requestOf({ key }), async (claim) => {
      await age(key, '2 minutes');
      taken = await create({ key });
      return knex.transaction(async (trx) => {
        await trx('things').insert({ key });
        await claim?.finish(trx, { status: 201, text: '{}', revision: 1 });
        return { status: 201 };
      });
    });
    await expect(slow).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    expect(taken).toMatchObject({ status: 201 });
    expect(await things(key)).toBe(1);
    expect(await create({ key })).toMatchObject({ text: (taken as Reply).text });
  });

  test('after an effect outside the database leaves an unknown outcome', async () => {
    const key = newKey();
    await abandon(key, 'outside');
    await age(key, '2 minutes');
    expect(await create({ key })).toBe('idempotency_outcome_unknown');
  });
});

describe('an effect outside the transaction of the outcome', () => {
  /** Creates a thing in one transaction and stores the response in another; `fail` is called before each commit. */
  const createInTwoSteps = async (key: string, fail: (step: number) => void) => {
    return idempotently(knex, requestOf({ key }), async (claim) => {
      await knex.transaction(async (trx) => {
        await claim?.beginExternalEffect(trx);
        await trx('things').insert({ key });
        fail(1);
      });
      await knex.transaction(async (trx) => {
        await claim?.finish(trx, { status: 201, text: '{}', revision: 2 });
        fail(2);
      });
      return { status: 201, text: '{}', revision: 2 };
    });
  };
  const failIn = (failing: number) => (step: number) => {
    if (step === failing) throw new TypeError('a bug');
  };

  test('ends with the outcome, which is stored', async () => {
    const key = newKey();
    const first = await createInTwoSteps(key, failIn(0));
    expect(await create({ key })).toEqual({ ...first, headers: { 'Idempotency-Replayed': 'true' } });
  });

  test('that is rolled back leaves the key unused', async () => {
    const key = newKey();
    await expect(createInTwoSteps(key, failIn(1))).rejects.toThrow('a bug');
    expect(await things(key)).toBe(0);
    expect(await create({ key })).toMatchObject({ status: 201 });
    expect(await things(key)).toBe(1);
  });

  test('whose outcome is rolled back leaves it unknown', async () => {
    const key = newKey();
    await expect(createInTwoSteps(key, failIn(2))).rejects.toThrow('a bug');
    expect(await create({ key })).toBe('idempotency_in_progress');
    await age(key, '2 minutes');
    expect(await create({ key })).toBe('idempotency_outcome_unknown');
    expect(await things(key)).toBe(1);
  });

  test('is not started by a request that lost its claim', async () => {
    const key = newKey();
    let taken: Reply | string | undefined;
    const late = idempotently(knex, requestOf({ key }), async (claim) => {
      await age(key, '2 minutes');
      taken = await create({ key });
      await knex.transaction(async (trx) => {
        await claim?.beginExternalEffect(trx);
        await trx('things').insert({ key });
      });
      return { status: 201 };
    });
    await expect(late).rejects.toMatchObject({ code: 'idempotency_in_progress' });
    expect(taken).toMatchObject({ status: 201 });
    expect(await things(key)).toBe(1);
  });
});

test('keys are kept as long as the operator says', async () => {
  const key = newKey();
  const attempt = { key, hours: 48 };
  const first = await create(attempt);
  await age(key, '47 hours');
  await sweepIdempotencyKeys(knex, 48);
  expect(await create(attempt)).toMatchObject({ text: (first as Reply).text });
  await age(key, '49 hours');
  expect(await create({ ...attempt, body: 'different' })).toMatchObject({ status: 201 });
  expect(await things(key)).toBe(2);
  await age(key, '49 hours');
  await sweepIdempotencyKeys(knex, 48);
  expect(await knex('idempotency_keys').where({ key })).toEqual([]);
});

test('keys past their retention are deleted', async () => {
  const old = newKey();
  const recent = newKey();
  await create({ key: old });
  await create({ key: recent });
  await age(old, '25 hours');
  await sweepIdempotencyKeys(knex, IDEMPOTENCY_HOURS);
  const kept = await knex('idempotency_keys').whereIn('key', [old, recent]).select<{ key: string }[]>('key');
  expect(kept).toEqual([{ key: recent }]);
});
