import { createHash, randomUUID } from 'node:crypto';
import type { Knex } from '@tocsin/runtime';
import { DomainError, errorBody, type ErrorBody } from './errors.ts';
import type { Reply, RouteRequest } from './route.ts';

/** How long a key is kept (contract: Idempotency). */
const RETENTION = '24 hours';
/**
 * How long a claim holds without an outcome. No request of ours runs this long, so an older claim belongs to a process
 * that died.
 */
const LEASE = '60 seconds';

/** The table of a service whose creates take an Idempotency-Key; for its migrations. */
export async function createIdempotencyTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('idempotency_keys', (table) => {
    table.bigInteger('workspace_id').notNullable();
    table.bigInteger('user_id').notNullable();
    table.text('route').notNullable();
    table.text('key').notNullable();
    table.binary('digest').notNullable().comment('SHA-256 of the path parameters and the body');
    table.uuid('token').notNullable().comment('who holds the claim');
    table.text('state').notNullable().defaultTo('claimed').checkIn(['claimed', 'outside', 'finished']);
    table.timestamp('claimed_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now()).index();
    table.integer('status');
    table.text('body');
    table.bigInteger('revision');
    table.primary(['workspace_id', 'user_id', 'route', 'key']);
  });
}

interface KeyRow {
  digest: Buffer;
  state: 'claimed' | 'outside' | 'finished';
  status: number | null;
  body: string | null;
  revision: number | null;
  expired: boolean;
  abandoned: boolean;
}

/** What is stored of an answer. */
export interface Outcome {
  status: number;
  text: string;
  revision: number | undefined;
}

/** A key that this request, and no other, may write the outcome of. */
export interface IdempotencyClaim {
  /** For a statement that stores the outcome itself, by `UPDATE … WHERE token = …`; it must touch exactly one row. */
  readonly token: string;
  /** Stores the outcome with the caller's transaction. @throws when another request took the claim over */
  finish(trx: Knex.Transaction, outcome: Outcome): Promise<void>;
  /**
   * From here on the request has effects that no transaction takes back: a crash makes its outcome unknown. In a transaction,
   * from its commit on: when that fails, the key is as unused as before.
   * @throws when another request took the claim over
   */
  beginOutsideEffect(db: Knex): Promise<void>;
}

/** Lost the claim to a request that took it over: nothing may be written. */
export const claimLost = () =>
  new DomainError('idempotency_in_progress', 'A request with this key is still running', {
    headers: { 'Retry-After': '1' },
  });

type KeyedRequest = Pick<
  RouteRequest<unknown, unknown, unknown>,
  'principal' | 'routeId' | 'params' | 'idempotencyKey' | 'bytes' | 'requestId'
>;

/**
 * Runs a create at most once for its Idempotency-Key: a repetition of the same bytes to the same path gets the stored answer. What `work`
 * commits and its outcome must be one transaction; see `IdempotencyClaim`. Refusals leave the key unused, but for those by the
 * state of things (409), which are outcomes (contract: Idempotency).
 * @throws DomainError `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_outcome_unknown`
 */
export async function idempotently(
  database: Knex,
  request: KeyedRequest,
  work: (claim: IdempotencyClaim | undefined) => Promise<Reply>,
): Promise<Reply> {
  const { idempotencyKey } = request;
  if (idempotencyKey === undefined) return work(undefined);
  const identity = {
    workspace_id: request.principal.workspace.id,
    user_id: request.principal.user_id,
    route: request.routeId,
    key: idempotencyKey,
  };
  // The path too: the same body for another incident is other content, and must not get this one's answer.
  const digest = createHash('sha256').update(JSON.stringify(request.params)).update(request.bytes).digest();
  const token = randomUUID();
  const stored = await claim(database, identity, digest, token);
  if (stored !== undefined) {
    return { ...stored, text: retold(stored, request.requestId), headers: { 'Idempotency-Replayed': 'true' } };
  }

  const mine = (db: Knex) => db('idempotency_keys').where({ ...identity, token });
  try {
    return await work({
      token,
      finish: async (trx, { status, text, revision }) => {
        const touched = await mine(trx).update({ state: 'finished', status, body: text, revision: revision ?? null });
        if (touched !== 1) throw claimLost();
      },
      beginOutsideEffect: async (db) => {
        if ((await mine(db).update({ state: 'outside' })) !== 1) throw claimLost();
      },
    });
  } catch (error) {
    if (error instanceof DomainError && isStateConflict(error)) {
      const text = JSON.stringify(errorBody(error, request.requestId));
      await mine(database).where({ state: 'claimed' }).update({ state: 'finished', status: error.status, body: text });
    } else {
      await mine(database).where({ state: 'claimed' }).delete();
    }
    throw error;
  }
}

/** To the letter, but that a refusal carries the ID of the request that is answered. */
const retold = ({ status, text }: Outcome, requestId: string): string =>
  status < 400 ? text : JSON.stringify({ ...(JSON.parse(text) as ErrorBody), request_id: requestId });

const isStateConflict = ({ status, code }: DomainError) => status === 409 && !code.startsWith('idempotency_');

type Identity = Record<'workspace_id' | 'user_id', number> & Record<'route' | 'key', string>;

/** The stored answer, or `undefined` when the key is now this request's. */
async function claim(database: Knex, identity: Identity, digest: Buffer, token: string): Promise<Outcome | undefined> {
  const row = { ...identity, digest, token };
  const inserted = await database('idempotency_keys').insert(row).onConflict().ignore().returning('token');
  if (inserted.length === 1) return undefined;

  const found = await database('idempotency_keys')
    .where(identity)
    .first<KeyRow | undefined>(
      'digest',
      'state',
      'status',
      'body',
      'revision',
      database.raw(`claimed_at < now() - interval '${RETENTION}' as expired`),
      database.raw(`claimed_at < now() - interval '${LEASE}' as abandoned`),
    );
  // Released between the two statements: as good as still running.
  if (found === undefined) throw claimLost();
  if (found.expired) return takeOver(database, row, `claimed_at < now() - interval '${RETENTION}'`);
  if (!found.digest.equals(digest)) {
    throw new DomainError('idempotency_key_reused', 'The key was used with different content');
  }
  if (found.state === 'finished') {
    return { status: found.status ?? 200, text: found.body ?? '', revision: found.revision ?? undefined };
  }
  if (!found.abandoned) throw claimLost();
  if (found.state === 'outside') {
    throw new DomainError(
      'idempotency_outcome_unknown',
      'The outcome of the earlier request could not be stored; read before you write again',
    );
  }
  return takeOver(database, row, `state = 'claimed' and claimed_at < now() - interval '${LEASE}'`);
}

async function takeOver(
  database: Knex,
  row: Identity & { digest: Buffer; token: string },
  condition: string,
): Promise<undefined> {
  const { digest, token, ...identity } = row;
  const taken = await database('idempotency_keys').where(identity).whereRaw(condition).update({
    digest,
    token,
    state: 'claimed',
    claimed_at: database.fn.now(),
    status: null,
    body: null,
    revision: null,
  });
  // Another request took it over first.
  if (taken !== 1) throw claimLost();
  return undefined;
}

/** Forgets keys past their retention; answers whether there may be more. */
export async function sweepIdempotencyKeys(database: Knex): Promise<boolean> {
  const old = database('idempotency_keys')
    .select('workspace_id', 'user_id', 'route', 'key')
    .whereRaw(`claimed_at < now() - interval '${RETENTION}'`)
    .limit(1_000);
  return (
    (await database('idempotency_keys').whereIn(['workspace_id', 'user_id', 'route', 'key'], old).delete()) === 1_000
  );
}
