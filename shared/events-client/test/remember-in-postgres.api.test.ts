import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import pg from 'pg';
import { HandlerGivenUp, POSTGRES_TABLES, rememberInPostgres } from '../src/index.ts';

describe('what is remembered in Postgres', () => {
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = new pg.Pool({ connectionString: database.adminUrl, max: 10 });
    await pool.query(POSTGRES_TABLES);
    await pool.query(POSTGRES_TABLES);
    await pool.query('create table effects (event_id uuid not null, place serial)');
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });
  beforeEach(async () => {
    await pool.query('truncate effects, tocsin_handled_events, tocsin_last_revisions');
  });

  const remember = (consumer = 'billing') => rememberInPostgres({ connect: async () => pool.connect(), consumer });
  const entry = (revision?: number) => ({
    id: randomUUID(),
    type: 'incident.updated',
    resource: revision === undefined ? undefined : 'incident:1',
    revision,
  });
  const effect = (id: string) => async (client: pg.PoolClient) => {
    await client.query('insert into effects (event_id) values ($1)', [id]);
  };
  const effects = async () =>
    (await pool.query<{ event_id: string }>('select event_id from effects order by place')).rows;

  test('commits with the effects of the handler, once, also when it is delivered at the same time', async () => {
    const event = entry();
    const outcomes = await Promise.all(Array.from({ length: 5 }, async () => remember().once(event, effect(event.id))));
    expect(outcomes.toSorted()).toEqual(['duplicate', 'duplicate', 'duplicate', 'duplicate', 'handled']);
    expect(await effects()).toEqual([{ event_id: event.id }]);
  });

  test('records nothing if the handler fails, and no effect remains', async () => {
    const event = entry(7);
    const failing = remember().once(event, async (client) => {
      await effect(event.id)(client);
      throw new Error('failed');
    });
    await expect(failing).rejects.toThrow('failed');
    expect(await effects()).toEqual([]);
    expect(await remember().once(event, effect(event.id))).toBe('handled');
  });

  test('records nothing of a handler that is given up, whose connection is closed', async () => {
    const event = entry(7);
    let late: Promise<unknown> | undefined;
    const givenUp = remember().once(event, async (client) => {
      await effect(event.id)(client);
      late = client.query('select pg_sleep(2)').catch((error: unknown) => error);
      throw new HandlerGivenUp('given up');
    });
    await expect(givenUp).rejects.toThrow('given up');
    expect(await late).toBeInstanceOf(Error);
    expect(await remember().once(event, effect(event.id))).toBe('handled');
    expect(await effects()).toEqual([{ event_id: event.id }]);
  });

  test('fails if the handler hides that a statement has failed', async () => {
    const event = entry();
    const hiding = remember().once(event, async (client) => {
      await client.query('select nothing').catch(() => undefined);
    });
    await expect(hiding).rejects.toThrow('was rolled back');
    expect(await remember().once(event, effect(event.id))).toBe('handled');
  });

  test('leaves out older revisions, also of events that come at the same time', async () => {
    const events = [3, 1, 2, 5, 4].map((revision) => entry(revision));
    const revisions: number[] = [];
    await Promise.all(
      events.map(async (event) =>
        remember().once(event, async (client) => {
          await effect(event.id)(client);
          revisions.push(event.revision ?? 0);
        }),
      ),
    );
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(revisions.at(-1)).toBe(5);
    expect(await remember().once(entry(4), effect(randomUUID()))).toBe('outdated');
    expect(await remember().once(entry(5), effect(randomUUID()))).toBe('handled');
  });

  test('is separate for each consumer', async () => {
    const event = entry(1);
    expect(await remember('billing').once(event, effect(event.id))).toBe('handled');
    expect(await remember('reports').once(event, effect(event.id))).toBe('handled');
    expect(await effects()).toHaveLength(2);
  });

  test('fails when the connection is lost, and returns no broken connection to the pool', async () => {
    const event = entry();
    const lost = remember().once(event, async (client) => {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      client.on('error', () => undefined);
      await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      await client.query('select 1');
    });
    await expect(lost).rejects.toThrow();
    expect(await remember().once(event, effect(event.id))).toBe('handled');
    expect(pool.idleCount).toBe(pool.totalCount);
  });

  test('forgets what is older than the given days', async () => {
    const event = entry();
    await remember().once(event, effect(event.id));
    await pool.query(`insert into tocsin_handled_events select 'billing', gen_random_uuid(), now() - interval '8 days'
      from generate_series(1, 2500)`);
    expect(await remember('reports').forget(7)).toBe(0);
    expect(await remember().forget(7)).toBe(2_500);
    expect(await remember().once(event, effect(event.id))).toBe('duplicate');
  });
});
