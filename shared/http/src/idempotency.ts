import { createHash, randomUUID } from 'node:crypto';
import { type Knex, type PreparedStatement, runPrepared } from '@tocsin/runtime';
import { DomainError, errorBody, type ErrorBody } from './errors.ts';
import type { Reply, RouteRequest } from './contract.ts';
import { IDEMPOTENCY_HEADER, REPLAYED_HEADER } from './preconditions.ts';

/** How long a key is kept, unless a setting says longer (contract: Idempotency). */
export const IDEMPOTENCY_HOURS = 24;
/**
 * How long a claim without an outcome is valid. No request runs this long, so an older claim belongs to a process that
 * crashed.
 */
const LEASE = '60 seconds';

/** Creates the table of idempotency keys; for the migrations of a service whose creates accept an Idempotency-Key. */
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

/** A stored response. */
export interface Outcome {
  status: number;
  text: string;
  revision: number | undefined;
}

/** Identifies the row of a claim: the primary key of `idempotency_keys`, and the token of the claiming request. */
export interface ClaimedRow {
  readonly workspace_id: number;
  readonly user_id: number;
  readonly route: string;
  readonly key: string;
  readonly token: string;
}

/** The exclusive right of a request to store the outcome of its key. */
export interface IdempotencyClaim {
  /**
   * For a statement that stores the outcome itself, by an UPDATE that must change exactly one row. It must match the
   * whole primary key as well as the token, because the token has no index.
   */
  readonly row: ClaimedRow;
  /** Stores the outcome in the caller's transaction. @throws if another request has taken over the claim */
  finish(trx: Knex.Transaction, outcome: Outcome): Promise<void>;
  /** Locks the claim until the transaction ends. Returns no row if another request has taken it over. */
  readonly lock: PreparedStatement;
  /** Stores the outcome, in a transaction in which `lock` returned a row. */
  outcome(outcome: Outcome): PreparedStatement;
  /**
   * Records that the request is about to have an effect that cannot be rolled back, so that a crash makes its outcome
   * unknown. In a transaction this holds from its commit on; after a rollback the key is still unused.
   * @throws if another request has taken over the claim
   */
  beginExternalEffect(db: Knex): Promise<void>;
}

/** Another request holds the claim of this key. */
export const idempotencyInProgress = () =>
  new DomainError('idempotency_in_progress', 'A request with this key is still in progress', {
    headers: { 'Retry-After': '1' },
  });

type KeyedRequest = Pick<
  RouteRequest<unknown, unknown, unknown>,
  'principal' | 'routeId' | 'params' | 'idempotencyKey' | 'idempotencyHours' | 'bytes' | 'requestId'
>;

/**
 * Runs a create at most once for its Idempotency-Key: a repetition of the same bytes to the same path gets the stored
 * response. `work` must store its outcome in the transaction of its effects; see `IdempotencyClaim`. After an error the
 * key is unused again, except after a conflict with the resource's state (409), which is an outcome (contract:
 * Idempotency).
 * @throws DomainError `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_outcome_unknown`
 */
export async function idempotently(
  database: Knex,
  request: KeyedRequest,
  work: (claim: IdempotencyClaim | undefined) => Promise<Reply<never>>,
): Promise<Reply<never>> {
  const { idempotencyKey } = request;
  if (idempotencyKey === undefined) return work(undefined);
  const identity = {
    workspace_id: request.principal.workspace.id,
    user_id: request.principal.user_id,
    route: request.routeId,
    key: idempotencyKey,
  };
  // With the path: the same body for another incident is a different request.
  const digest = createHash('sha256').update(JSON.stringify(request.params)).update(request.bytes).digest();
  const token = randomUUID();
  const stored = await claimKey(database, { ...identity, digest, token }, request.idempotencyHours);
  if (stored !== undefined) {
    return { ...stored, text: replayText(stored, request.requestId), headers: { [REPLAYED_HEADER]: 'true' } };
  }

  const row: ClaimedRow = { ...identity, token };
  const own = [row.workspace_id, row.user_id, row.route, row.key, row.token];
  const outcome = ({ status, text, revision }: Outcome): PreparedStatement => ({
    name: 'store-idempotency-outcome',
    text: OUTCOME,
    values: [...own, status, text, revision ?? null],
  });
  const ownRow = (db: Knex) => db('idempotency_keys').where(row);
  try {
    return await work({
      row,
      finish: async (trx, finished) => {
        const { name, text, values } = outcome(finished);
        const updated = await runPrepared(trx, name, text, [...values]);
        if (updated.length !== 1) throw idempotencyInProgress();
      },
      lock: { name: 'lock-idempotency-claim', text: LOCK, values: own },
      outcome,
      beginExternalEffect: async (db) => {
        if ((await ownRow(db).update({ state: 'outside' })) !== 1) throw idempotencyInProgress();
      },
    });
  } catch (error) {
    if (error instanceof DomainError && isStateConflict(error)) {
      const text = JSON.stringify(errorBody(error, request.requestId));
      await ownRow(database)
        .where({ state: 'claimed' })
        .update({ state: 'finished', status: error.status, body: text });
    } else {
      await ownRow(database).where({ state: 'claimed' }).delete();
    }
    throw error;
  }
}

/** The stored body, unchanged except that an error has the ID of the current request. */
const replayText = ({ status, text }: Outcome, requestId: string): string =>
  status < 400 ? text : JSON.stringify({ ...(JSON.parse(text) as ErrorBody), request_id: requestId });

const isStateConflict = ({ status, code }: DomainError) => status === 409 && !code.startsWith('idempotency_');

type Identity = Omit<ClaimedRow, 'token'>;

const CLAIM = `
  insert into idempotency_keys (workspace_id, user_id, route, key, digest, token) values ($1, $2, $3, $4, $5, $6)
  on conflict do nothing returning token`;

const OWN = 'workspace_id = $1 and user_id = $2 and route = $3 and key = $4 and token = $5';

const LOCK = `select 1 as held from idempotency_keys where ${OWN} for no key update`;

const OUTCOME = `
  update idempotency_keys set state = 'finished', status = $6, body = $7, revision = $8 where ${OWN} returning 1 as held`;

/** Claims the key. Returns the stored response, or `undefined` if this request now holds the claim. */
async function claimKey(
  database: Knex,
  row: Identity & { digest: Buffer; token: string },
  hours: number,
): Promise<Outcome | undefined> {
  const { digest, token, ...identity } = row;
  const expired = isExpired(database, hours);
  const values = [identity.workspace_id, identity.user_id, identity.route, identity.key, digest, token];
  const inserted = await runPrepared(database, 'claim-idempotency-key', CLAIM, values);
  if (inserted.length === 1) return undefined;

  const existing = await database('idempotency_keys')
    .where(identity)
    .first<KeyRow | undefined>(
      'digest',
      'state',
      'status',
      'body',
      'revision',
      database.raw('? as expired', [expired]),
      database.raw(`claimed_at < now() - interval '${LEASE}' as abandoned`),
    );
  // Released between the two statements: the client can retry.
  if (existing === undefined) throw idempotencyInProgress();
  if (existing.expired) return takeOver(database, row, expired);
  if (!existing.digest.equals(digest)) {
    throw new DomainError('idempotency_key_reused', 'The key was already used with a different request', {
      field: IDEMPOTENCY_HEADER,
    });
  }
  if (existing.state === 'finished') {
    return { status: existing.status ?? 200, text: existing.body ?? '', revision: existing.revision ?? undefined };
  }
  if (!existing.abandoned) throw idempotencyInProgress();
  if (existing.state === 'outside') {
    throw new DomainError(
      'idempotency_outcome_unknown',
      'The outcome of the earlier request is unknown; read the resource before you retry',
    );
  }
  return takeOver(database, row, database.raw(`state = 'claimed' and claimed_at < now() - interval '${LEASE}'`));
}

async function takeOver(
  database: Knex,
  row: Identity & { digest: Buffer; token: string },
  condition: Knex.Raw,
): Promise<undefined> {
  const { digest, token, ...identity } = row;
  const updated = await database('idempotency_keys').where(identity).whereRaw(condition).update({
    digest,
    token,
    state: 'claimed',
    claimed_at: database.fn.now(),
    status: null,
    body: null,
    revision: null,
  });
  // Another request was faster.
  if (updated !== 1) throw idempotencyInProgress();
  return undefined;
}

const isExpired = (database: Knex, hours: number): Knex.Raw =>
  database.raw(`claimed_at < now() - ? * interval '1 hour'`, [hours]);

/** Deletes keys past their retention. Returns whether there may be more. */
export async function sweepIdempotencyKeys(database: Knex, hours: number): Promise<boolean> {
  const old = database('idempotency_keys')
    .select('workspace_id', 'user_id', 'route', 'key')
    .whereRaw(isExpired(database, hours))
    .limit(1_000);
  return (
    (await database('idempotency_keys').whereIn(['workspace_id', 'user_id', 'route', 'key'], old).delete()) === 1_000
  );
}
