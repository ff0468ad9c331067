import { createHash } from 'node:crypto';
import { brokenConstraint, type Knex, query, type Statement } from '@tocsin/postgres';
import { DomainError } from '../errors/errors.ts';
import { IDEMPOTENCY_HEADER } from '../contracts/preconditions.ts';

/** How long a key is kept, unless a setting says longer (contract: Idempotency). */
export const IDEMPOTENCY_HOURS = 24;
/**
 * How long a claim without an outcome is valid. No request runs this long, so an older claim belongs to a process that
 * crashed.
 */
export const LEASE = '60 seconds';

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

/** The primary key of a row. */
export interface KeyIdentity {
  readonly workspace_id: number;
  readonly user_id: number;
  readonly route: string;
  readonly key: string;
}

/** A key in a request. */
export interface KeyUse {
  readonly identity: KeyIdentity;
  /** SHA-256 of the path parameters and the body. */
  readonly digest: Buffer;
  /** How many hours the outcome is kept. */
  readonly hours: number;
}

/** A stored response. */
export interface Outcome {
  status: number;
  text: string;
  revision: number | undefined;
}

/** Another request with this key is running. */
export const idempotencyInProgress = () =>
  new DomainError('idempotency_in_progress', 'A request with this key is still in progress', {
    headers: { 'Retry-After': '1' },
  });

/** The key has a row already. It is never sent: the row says what the response is. */
class KeyIsUsed extends Error {
  override readonly name = 'KeyIsUsed';
}

/** The name of the primary key, and of those of partitions. */
const PRIMARY_KEY_NAME = /^idempotency_keys_(?:\w+_)?pkey/;

/** Whether something failed because the key has a row already. */
export const isKeyUsed = (error: unknown): boolean =>
  error instanceof KeyIsUsed || PRIMARY_KEY_NAME.test(brokenConstraint(error) ?? '');

const primaryKey = ({ workspace_id, user_id, route, key }: KeyIdentity) => [workspace_id, user_id, route, key];

/** The condition that selects a key's row. */
const isKey = ([workspace, user, route, key]: readonly string[]) =>
  `workspace_id = ${workspace} and user_id = ${user} and route = ${route} and key = ${key}`;

const PRIMARY_KEY = isKey(['$1', '$2', '$3', '$4']);

const COLUMNS = 'workspace_id, user_id, route, key, digest, token, state, status, body, revision';

/** The token of a row that was never a claim. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

/**
 * The number of the key's advisory lock. 64 bits of a SHA-256: nobody can find a key whose lock is that of another
 * workspace's key, or another advisory lock. If two are the same by chance, one request may get
 * `idempotency_in_progress`, and its repetition succeeds.
 */
export const lockOf = (identity: KeyIdentity): string =>
  createHash('sha256')
    .update(JSON.stringify(['idempotency', ...primaryKey(identity)]))
    .digest()
    .readBigInt64BE()
    .toString();

/** `free`: this transaction may use the key, and no other one can until it ends. `busy`: another transaction uses it. */
export type KeyState = 'free' | 'busy' | 'used';

/** @throws DomainError `idempotency_in_progress`, and an error for which `isKeyUsed` holds */
export function checkKeyState(state: KeyState | undefined): void {
  if (state === 'used') throw new KeyIsUsed();
  if (state !== 'free') throw idempotencyInProgress();
}

/**
 * An expression for the `KeyState`, which locks the key first. It sees the rows that were committed when the statement began,
 * so `free` may be wrong; then the insert of the outcome fails.
 */
const stateOf = (primary: readonly string[], lock: string) => `
  case
    when not pg_try_advisory_xact_lock(${lock}) then 'busy'
    when exists (select 1 from idempotency_keys where ${isKey(primary)}) then 'used'
    else 'free'
  end`;

/** Returns the `KeyState` of a key. */
export const lockKey = ({ identity }: KeyUse): Statement<{ state: KeyState }> => ({
  name: 'lock-idempotency-key',
  text: `select ${stateOf(['$1', '$2', '$3', '$4'], '$5')} as state`,
  values: [...primaryKey(identity), lockOf(identity)],
});

/** Inserts a key with its outcome in a transaction that has locked the key. Fails if the key has a row. */
export const insertOutcome = ({ identity, digest }: KeyUse, { status, text, revision }: Outcome): Statement => ({
  name: 'insert-idempotency-outcome',
  text: `
    insert into idempotency_keys (${COLUMNS}) values ($1, $2, $3, $4, $5, '${NOBODY}', 'finished', $6, $7, $8)`,
  values: [...primaryKey(identity), digest, status, text, revision ?? null],
});

const PARAMETER_TYPES = ['bigint', 'bigint', 'text', 'text', 'bigint', 'bytea'];

/**
 * What `lockKey` and `insertOutcome` do, as parts of another statement.
 * @param first the number of the first of their parameters
 */
export function keyParts({ identity, digest }: KeyUse, first: number) {
  const parameters = PARAMETER_TYPES.map((type, index) => `$${first + index}::${type}`);
  const [primary, [lock = '', hash]] = [parameters.slice(0, 4), parameters.slice(4)];
  return {
    values: [...primaryKey(identity), lockOf(identity), digest],
    /** An expression for the `KeyState`. */
    state: stateOf(primary, lock),
    /** An insert, to which a FROM can be added. The outcome is of SQL expressions. */
    insert: ({ status, body, revision }: { status: string; body: string; revision: string }) => `
      insert into idempotency_keys (${COLUMNS})
      select ${primary.join(', ')}, ${hash}, '${NOBODY}', 'finished', ${status}, ${body}, ${revision}`,
  };
}

const INSERT = `
  insert into idempotency_keys (${COLUMNS})
  select $1::bigint, $2::bigint, $3::text, $4::text, $5::bytea, $6::uuid, $7::text, $8::integer, $9::text, null
  where pg_try_advisory_xact_lock($10::bigint)
  on conflict do nothing returning 1 as inserted`;

/** Inserts a row by itself. Returns whether that was possible: no other request has used the key or uses it now. */
async function insertRow(
  database: Knex,
  { identity, digest }: KeyUse,
  row: { token: string; state: 'claimed' | 'finished'; status?: number; text?: string },
): Promise<boolean> {
  const { token, state, status = null, text = null } = row;
  const values = [...primaryKey(identity), digest, token, state, status, text, lockOf(identity)];
  return (await query(database, { name: 'insert-idempotency-key', text: INSERT, values })).length === 1;
}

/** Claims a key. Returns whether that was possible. */
export const insertClaim = async (database: Knex, use: KeyUse, token: string): Promise<boolean> =>
  insertRow(database, use, { token, state: 'claimed' });

/** Stores an outcome that changes nothing else. Returns whether that was possible. */
export const insertRefusal = async (
  database: Knex,
  use: KeyUse,
  refusal: { status: number; text: string },
): Promise<boolean> => insertRow(database, use, { ...refusal, token: NOBODY, state: 'finished' });

interface KeyRow {
  digest: Buffer;
  state: 'claimed' | 'outside' | 'finished';
  status: number | null;
  body: string | null;
  revision: number | null;
  is_expired: boolean;
  is_abandoned: boolean;
}

const IS_EXPIRED = 'claimed_at < now() - make_interval(hours => $5)';
const IS_ABANDONED = `claimed_at < now() - interval '${LEASE}'`;

const FIND = `
  select digest, state, status, body, revision, ${IS_EXPIRED} as is_expired, ${IS_ABANDONED} as is_abandoned
  from idempotency_keys where ${PRIMARY_KEY}`;

/** A claim may have got its outcome, or another owner, since it was read. */
const FREE = `
  delete from idempotency_keys where ${PRIMARY_KEY} and (${IS_EXPIRED} or (state = 'claimed' and ${IS_ABANDONED}))`;

/**
 * Changes nothing, but commits. A commit whose wait for a synchronous standby was cancelled is visible without it; one that
 * comes later waits for both.
 */
const CONFIRM = `update idempotency_keys set state = state where ${PRIMARY_KEY}`;

/**
 * Returns the stored response for a key; `undefined` if it has none and can be used. Deletes an expired outcome and the
 * claim of a process that crashed.
 * @throws DomainError `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_outcome_unknown`
 */
export async function findOutcome(database: Knex, { identity, digest, hours }: KeyUse): Promise<Outcome | undefined> {
  const values = [...primaryKey(identity), hours];
  const [row] = await query<KeyRow>(database, { name: 'find-idempotency-key', text: FIND, values });
  if (row === undefined) return undefined;
  const free = async () => query(database, { name: 'free-idempotency-key', text: FREE, values });
  if (row.is_expired) {
    await free();
    return undefined;
  }
  if (!row.digest.equals(digest)) {
    throw new DomainError('idempotency_key_reused', 'The key was already used with a different request', {
      field: IDEMPOTENCY_HEADER,
    });
  }
  if (row.state === 'finished') {
    await query(database, { name: 'confirm-idempotency-outcome', text: CONFIRM, values: primaryKey(identity) });
    return { status: row.status ?? 200, text: row.body ?? '', revision: row.revision ?? undefined };
  }
  if (!row.is_abandoned) throw idempotencyInProgress();
  if (row.state === 'outside') {
    throw new DomainError(
      'idempotency_outcome_unknown',
      'The outcome of the earlier request is unknown; read the resource before you retry',
    );
  }
  await free();
  return undefined;
}

/** Keys that are deleted at once. */
const BATCH = 1_000;

/** Deletes keys past their retention. Returns whether there may be more. */
export async function sweepIdempotencyKeys(database: Knex, hours: number): Promise<boolean> {
  const deleted = await query(database, {
    text: `delete from idempotency_keys where (workspace_id, user_id, route, key) in (
        select workspace_id, user_id, route, key from idempotency_keys
        where claimed_at < now() - make_interval(hours => $1) limit ${BATCH})
      returning 1 as deleted`,
    values: [hours],
  });
  return deleted.length === BATCH;
}
