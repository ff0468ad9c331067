import path from 'node:path';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createTestDatabase, holdTransaction } from '@tocsin/testing';
import { type NewEvent, outboxRow, type OutboxRow } from '../src/index.ts';

/** The tables of a service that publishes and consumes, and `effects`, to which the test's handler writes. */
export interface MessagingDatabase {
  knex: Knex;
  url: string;
  effects(): Promise<string[]>;
  waiting(): Promise<number>;
  drop(): Promise<void>;
}

export async function messagingDatabase(): Promise<MessagingDatabase> {
  const database = await createTestDatabase({
    schema: 'messaging',
    migrations: path.join(import.meta.dirname, 'migrations'),
  });
  const url = database.url('messaging');
  const knex = openPool(url);
  return {
    knex,
    url,
    effects: async () => (await knex('effects').select('reference').orderBy('id')).map(({ reference }) => reference),
    waiting: async () => (await knex('outbox').select('id')).length,
    drop: async () => {
      await knex.destroy();
      await database.drop();
    },
  };
}

/** @param statement milliseconds after which Postgres cancels a statement */
export const openPool = (url: string, statement = 10_000) =>
  openDatabase({ url, schema: 'messaging', application: 'test', poolSize: 5, deadlines: { statement } });

/** Keeps others from writing to `effects` until the returned function is called. */
export const lockEffects = async (knex: Knex): Promise<() => Promise<void>> =>
  holdTransaction(knex, async (trx) => trx.raw('lock table effects in share mode'));

/** Makes inserts into `effects` fail with this SQLSTATE, the first `times` times or until `restoreEffects`. */
export async function failEffects(knex: Knex, state: string, times = 1_000_000): Promise<void> {
  await knex.raw('create sequence failures');
  await knex.raw(`
    create function fail() returns trigger language plpgsql as $$ begin
      if nextval('failures') <= ${times} then raise exception using errcode = '${state}'; end if;
      return new;
    end $$`);
  await knex.raw('create trigger fail before insert on effects for each row execute function fail()');
}

export async function restoreEffects(knex: Knex): Promise<void> {
  await knex.raw('drop function if exists fail cascade');
  await knex.raw('drop sequence if exists failures');
}

const WORKSPACE = { id: 1, slug: 'acme', is_demo: false };

export const incidentCreated = (reference: string): NewEvent<'incident.created'> => ({
  type: 'incident.created',
  occurredAt: '2026-11-20T12:00:00.000Z',
  workspace: WORKSPACE,
  requestId: 'r-1',
  data: {
    incident: {
      id: 1,
      reference,
      revision: 1,
      title: 'Checkout is slow',
      service: 'checkout',
      regions: [],
      severity: 'sev3',
      status: 'open',
      issue_type: 'incident',
      impact_summary: '',
      team_id: null,
      created_at: '2026-11-20T12:00:00.000Z',
      created_by: '42',
      archived_at: null,
    },
  },
});

export const incidentArchived = (reference: string): NewEvent<'incident.archived'> => ({
  ...incidentCreated(reference),
  type: 'incident.archived',
});

/** For a queue whose messages may be handled in any order. */
export const impactUpdated = (incidentId: number): NewEvent<'customer-impact.updated'> => ({
  type: 'customer-impact.updated',
  occurredAt: '2026-11-20T12:00:00.000Z',
  workspace: WORKSPACE,
  requestId: 'r-1',
  data: {
    workspace_id: WORKSPACE.id,
    incident_id: incidentId,
    affected_customers: 1,
    mrr: [],
    as_of: '2026-11-20T12:00:00.000Z',
  },
});

/** The outbox row of an event of a type that no queue is bound to. */
export const unboundEvent = (): OutboxRow => ({ ...outboxRow(incidentCreated('INC-1')), type: 'of.nobody' });
