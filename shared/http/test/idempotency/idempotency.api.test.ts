import { afterAll, describe, expect, test } from '@jest/globals';
import path from 'node:path';
import { type Knex, openDatabase, pipeline, query } from '@tocsin/postgres';
import { createTestDatabase, testPrincipal } from '@tocsin/testing';
import {
  DomainError,
  IDEMPOTENCY_HOURS,
  idempotently,
  idempotentlyWithClaim,
  invalidRequest,
  invalidState,
  type KeyState,
  notFound,
  type Reply,
  sweepIdempotencyKeys,
} from '../../src/index.ts';

const database = await createTestDatabase({
  schema: 'idempotency',
  migrations: path.join(import.meta.dirname, '../migrations'),
});
const knex = openDatabase({
  url: database.url('idempotency'),
  schema: 'idempotency',
  application: 'test',
  poolSize: 5,
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
  workspace?: number;
  parent?: number;
  requestId?: string;
  hours?: number;
  /** Runs before the key is locked, but after it is claimed. */
  before?: () => unknown;
  /** Runs in the transaction of the work. */
  during?: (trx: Knex.Transaction) => unknown;
}

const requestOf = ({
  key,
  body = '{}',
  user = 42,
  workspace = 1,
  parent = 1,
  requestId = 'r-1',
  hours = IDEMPOTENCY_HOURS,
}: Attempt) => ({
  principal: testPrincipal({ user_id: user, workspace: { id: workspace } }),
  routeId: 'createThing',
  idempotencyKey: key,
  idempotencyHours: hours,
  params: { id: parent },
  bytes: Buffer.from(body),
  requestId,
});

type Created = Promise<Reply<never>>;

const insertThing = async (trx: Knex, key: string): Promise<string> => {
  const [thing] = await trx('things').insert({ key }).returning<{ id: number }[]>('id');
  return JSON.stringify(thing);
};

/** The ways to hold a key while a thing is created. */
const WAYS = {
  'a transaction': async (attempt: Attempt): Created =>
    idempotently(knex, requestOf(attempt), async (key) => {
      await attempt.before?.();
      return knex.transaction(async (trx) => {
        await key?.lock(trx);
        await attempt.during?.(trx);
        const text = await insertThing(trx, attempt.key);
        const reply = { status: 201, text, revision: 1 };
        if (key !== undefined) await pipeline(trx, [key.outcome(reply)], { commit: true });
        return reply;
      });
    }),

  'one statement': async (attempt: Attempt): Created =>
    idempotently(knex, requestOf(attempt), async (key) => {
      await attempt.before?.();
      return knex.transaction(async (trx) => {
        if (key === undefined) throw new TypeError('there is a key');
        const { state, insert, values } = key.parts(2);
        const outcome = { status: '201', body: `json_build_object('id', id)::text`, revision: '1' };
        const [result] = await query<{ state: KeyState; body: string }>(trx, {
          text: `with idempotency_key as materialized (
             select ${state} as state
           ), created as (
             insert into things (key) select $1 where (select state from idempotency_key) = 'free' returning id
           ), stored as (
             ${insert(outcome)} from created returning body
           )
           select state, body from idempotency_key left join stored on true`,
          values: [attempt.key, ...values],
        });
        key.check(result?.state);
        await attempt.during?.(trx);
        return { status: 201, text: result?.body ?? '', revision: 1 };
      });
    }),

  'a claim': async (attempt: Attempt): Created =>
    idempotentlyWithClaim(knex, requestOf(attempt), async (claim) => {
      await attempt.before?.();
      return knex.transaction(async (trx) => {
        await attempt.during?.(trx);
        const text = await insertThing(trx, attempt.key);
        const reply = { status: 201, text, revision: 1 };
        await claim?.finish(trx, reply);
        return reply;
      });
    }),
};
const ALL = Object.entries(WAYS);
const IN_TRANSACTION = ALL.filter(([name]) => name !== 'a claim');

/** Creates a thing with an idempotency key. Returns the response, or the error code. */
const creating =
  (way: (attempt: Attempt) => Created) =>
  async (attempt: Attempt): Promise<Reply | string> => {
    try {
      return await way(attempt);
    } catch (error) {
      if (error instanceof DomainError) return error.code;
      throw error;
    }
  };
const create = creating(WAYS['a claim']);

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

describe.each(ALL)('the same key, held by %s,', (_name, way) => {
  const create = creating(way);

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
    await expect(way({ key })).rejects.toMatchObject({ code: 'idempotency_key_reused', field: 'Idempotency-Key' });
  });

  test('for another parent is rejected', async () => {
    const key = newKey();
    await create({ key, parent: 1 });
    expect(await create({ key, parent: 2 })).toBe('idempotency_key_reused');
  });

  test('of another user or workspace is a different key', async () => {
    const key = newKey();
    for (const holder of [{}, { user: 43 }, { workspace: 2 }]) await create({ key, ...holder });
    expect(await things(key)).toBe(3);
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

describe.each(ALL)('an error, with the key held by %s,', (_name, way) => {
  const create = creating(way);

  test('in the input leaves the key unused', async () => {
    const key = newKey();
    const refuse = () => {
      throw invalidRequest('team_id', 'no');
    };
    expect(await create({ key, before: refuse })).toBe('invalid_request');
    expect(await create({ key, body: 'other' })).toMatchObject({ status: 201 });
  });

  test('by a conflict with the state is an outcome and is stored', async () => {
    const key = newKey();
    const refuse = () => {
      throw invalidState('archived');
    };
    expect(await create({ key, before: refuse })).toBe('invalid_resource_state');
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
    await expect(create({ key, before: fail })).rejects.toThrow('a bug');
    expect(await create({ key })).toMatchObject({ status: 201 });
  });
});

describe.each(IN_TRANSACTION)('a key that is held by %s', (_name, way) => {
  const create = creating(way);
  const replayOf = (first: Reply | string) => ({ ...(first as Reply), headers: { 'Idempotency-Replayed': 'true' } });

  test('makes nobody wait', async () => {
    const key = newKey();
    const answers: unknown[] = [];
    const first = await create({
      key,
      during: async () => {
        for (const attempt of [{ key }, { key, body: 'other' }]) {
          answers.push(await create(attempt), await creating(WAYS['a claim'])(attempt));
        }
      },
    });
    expect(answers).toEqual(Array.from({ length: 4 }, () => 'idempotency_in_progress'));
    expect(await create({ key })).toEqual(replayOf(first));
    expect(await things(key)).toBe(1);
  });

  test.each([
    ['an invalid reference', () => invalidRequest('team_id', 'no')],
    ['a missing resource', () => notFound('The parent')],
    ['a conflict', () => invalidState('archived')],
    ['a bug', () => new TypeError('a bug')],
  ])('has its outcome, even if a repetition fails by %s', async (_error, failure) => {
    const key = newKey();
    const first = await create({ key });
    const before = () => {
      throw failure();
    };
    expect(await create({ key, before })).toEqual(replayOf(first));
    expect(await create({ key, body: 'other', before })).toBe('idempotency_key_reused');
    expect(await things(key)).toBe(1);
  });

  test('has the outcome of the faster of two requests, even if the other one meets what that has changed', async () => {
    const key = newKey();
    let first: Reply | string = '';
    const before = async () => {
      first = await create({ key });
      throw invalidState('duplicate');
    };
    expect(await create({ key, before })).toEqual(replayOf(first));
    expect(await things(key)).toBe(1);
  });

  test('may belong to a claim of a request that is running', async () => {
    const key = newKey();
    let meanwhile: unknown;
    const before = async () => (meanwhile = await create({ key }));
    const first = await creating(WAYS['a claim'])({ key, before });
    expect(meanwhile).toBe('idempotency_in_progress');
    expect(await create({ key })).toEqual(replayOf(first));
  });

  test('is stored by this transaction or none', async () => {
    const [key, other] = [newKey(), newKey()];
    const first = await create({ key: other });
    // What a process does that knows claims only, and no lock.
    const insert = async () =>
      knex.raw(
        `insert into idempotency_keys (workspace_id, user_id, route, key, digest, token, state, status, body, revision)
         select workspace_id, user_id, route, ?, digest, token, state, status, body, revision
         from idempotency_keys where key = ?`,
        [key, other],
      );
    const late = WAYS['a transaction']({ key, during: insert });
    expect(await late).toEqual(replayOf(first));
    expect(await things(key)).toBe(0);
  });
});

describe('a process that crashed during the request', () => {
  test.each(ALL)('leaves its claim to the next request, by %s, once the lease has expired', async (_name, way) => {
    const create = creating(way);
    const key = newKey();
    await abandon(key, 'claimed');
    expect(await create({ key })).toBe('idempotency_in_progress');
    await age(key, '2 minutes');
    expect(await create({ key })).toMatchObject({ status: 201 });
  });

  test('cannot commit after its claim was taken over', async () => {
    const key = newKey();
    let taken: Reply | string | undefined;
    const slow = idempotentlyWithClaim(knex, requestOf({ key }), async (claim) => {
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

  test.each(ALL)('after an effect outside the database leaves an unknown outcome to %s', async (_name, way) => {
    const create = creating(way);
    const key = newKey();
    await abandon(key, 'outside');
    await age(key, '2 minutes');
    expect(await create({ key })).toBe('idempotency_outcome_unknown');
  });
});

describe('an effect outside the transaction of the outcome', () => {
  /** Creates a thing in one transaction and stores the response in another; `fail` is called before each commit. */
  const createInTwoSteps = async (key: string, fail: (step: number) => void) => {
    return idempotentlyWithClaim(knex, requestOf({ key }), async (claim) => {
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
    const late = idempotentlyWithClaim(knex, requestOf({ key }), async (claim) => {
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
