/**
 * `idempotency` makes a create happen at most once for its Idempotency-Key: a repetition of the same bytes to the same
 * path gets the stored response (contract: Idempotency). There are two ways to hold the key meanwhile (ADR 4).
 * `idempotently`: the work is one transaction, which tries the advisory lock of the key first and waits for nobody, and
 * which inserts the key with its outcome; the primary key refuses a second one. `idempotentlyWithClaim`: the work has
 * an effect that no transaction can roll back, so a claim of the key is committed first. Whatever the work fails with,
 * a stored outcome is the response. After an error the key is unused again, except after a conflict with the resource's
 * state (409), which is an outcome. A crash leaves the key of a transaction unused; a claim is void after a minute, or
 * its outcome unknown if the effect began.
 */
import { createHash, randomUUID } from 'node:crypto';
import { isDatabaseUnavailable, type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import type { Reply, RouteRequest } from '../contracts/contract.ts';
import { DomainError, errorBody, type ErrorBody } from '../errors/errors.ts';
import {
  checkKeyState,
  findOutcome,
  idempotencyInProgress,
  insertClaim,
  insertOutcome,
  insertRefusal,
  isKeyUsed,
  keyParts,
  type KeyState,
  type KeyUse,
  lockKey,
  type Outcome,
} from './idempotency-keys.ts';
import { REPLAYED_HEADER } from '../contracts/preconditions.ts';

type KeyedRequest = Pick<
  RouteRequest<unknown, unknown, unknown>,
  'principal' | 'routeId' | 'params' | 'idempotencyKey' | 'idempotencyHours' | 'bytes' | 'requestId'
>;

type Work<Held> = (held: Held | undefined) => Promise<Reply<never>>;

/** A key that the transaction of the work uses. */
export interface IdempotencyKey {
  /** Must be the transaction's first statement, so that a request never waits for another one with the same key. */
  lock(trx: Knex.Transaction): Promise<void>;
  /** Stores the outcome in the transaction. Fails, so that the transaction rolls back, if the key was used meanwhile. */
  outcome(outcome: Outcome): Statement;
  /** Both as parts of a single statement that does all the work, if the state is `free`. See `keyParts`. */
  parts(first: number): ReturnType<typeof keyParts>;
  /** Must be called with the state that such a statement has seen, before anything else in its result is looked at. */
  check(state: KeyState | undefined): void;
}

/** The response to a command, which commits with it, so that a repetition with the key gets it again. */
export interface KeyedOutcome<Answer> {
  key: IdempotencyKey;
  responseOf: (answer: Answer) => Outcome;
}

/** Runs the work of a transaction and, if it has a key, stores its outcome. Nothing may follow in the transaction. */
export async function withOutcome<Answer>(
  trx: Knex.Transaction,
  outcome: KeyedOutcome<Answer> | undefined,
  work: () => Promise<Answer>,
): Promise<Answer> {
  await outcome?.key.lock(trx);
  const answer = await work();
  if (outcome !== undefined) await pipeline(trx, [outcome.key.outcome(outcome.responseOf(answer))], { commit: true });
  return answer;
}

/** How often the work is tried if the key is used when the work fails, and unused a moment later. */
const ATTEMPTS = 3;

/**
 * Runs a create whose work is one transaction, and which stores its outcome there. The key is not looked up before: if it
 * has been used, the work fails, by `lock`, by the insert of its outcome, or because of what the first request has changed.
 * Whatever the work fails with, a stored outcome is the response.
 * @param isOutcome which refusals are outcomes, too; default: conflicts of state
 * @throws DomainError `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_outcome_unknown`
 */
export async function idempotently(
  database: Knex,
  request: KeyedRequest,
  work: Work<IdempotencyKey>,
  isOutcome: (error: DomainError) => boolean = isStateConflict,
): Promise<Reply<never>> {
  const use = keyUseOf(request);
  if (use === undefined) return work(undefined);
  const key: IdempotencyKey = {
    lock: async (trx) => {
      const rows = await query(trx, lockKey(use));
      checkKeyState(rows[0]?.state);
    },
    outcome: (outcome) => insertOutcome(use, outcome),
    parts: (first) => keyParts(use, first),
    check: checkKeyState,
  };
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    try {
      return await work(key);
    } catch (error) {
      const stored = await findOutcomeAfter(error, { database, use });
      if (stored !== undefined) return replay(stored, request);
      if (isKeyUsed(error)) continue;
      if (!(error instanceof DomainError) || !isOutcome(error)) throw error;
      if (await insertRefusal(database, use, refusalOf(error, request))) throw error;
    }
  }
  throw idempotencyInProgress();
}

/** @throws the error, if the outcome cannot be looked up; DomainError if another request has used the key otherwise */
async function findOutcomeAfter(
  error: unknown,
  { database, use }: { database: Knex; use: KeyUse },
): Promise<Outcome | undefined> {
  // Another failure would only come later.
  if (isDatabaseUnavailable(error)) throw error;
  try {
    return await findOutcome(database, use);
  } catch (failure) {
    throw failure instanceof DomainError || isKeyUsed(error) ? failure : error;
  }
}

/** The exclusive right of a request to store the outcome of its key. */
export interface IdempotencyClaim {
  /** Stores the outcome in the caller's transaction. @throws if another request has taken over the claim */
  finish(trx: Knex.Transaction, outcome: Outcome): Promise<void>;
  /**
   * Records that the request is about to have an effect that cannot be rolled back, so that a crash makes its outcome
   * unknown. In a transaction this holds from its commit on; after a rollback the key is still unused.
   * @throws if another request has taken over the claim
   */
  beginExternalEffect(db: Knex): Promise<void>;
}

const IS_OWN = 'workspace_id = $1 and user_id = $2 and route = $3 and key = $4 and token = $5';

const FINISH = `
  update idempotency_keys set state = 'finished', status = $6, body = $7, revision = $8
  where ${IS_OWN} returning 1 as finished`;

const BEGIN_EXTERNAL_EFFECT = `update idempotency_keys set state = 'outside' where ${IS_OWN} returning 1 as begun`;

const REFUSE = `
  update idempotency_keys set state = 'finished', status = $6, body = $7 where ${IS_OWN} and state = 'claimed'`;

const DELETE_CLAIM = `delete from idempotency_keys where ${IS_OWN} and state = 'claimed'`;

/**
 * Runs a create with an effect that no transaction can roll back. `work` must call `beginExternalEffect` before it, and
 * `finish` after it.
 * @throws DomainError `idempotency_key_reused`, `idempotency_in_progress`, `idempotency_outcome_unknown`
 */
export async function idempotentlyWithClaim(
  database: Knex,
  request: KeyedRequest,
  work: Work<IdempotencyClaim>,
): Promise<Reply<never>> {
  const use = keyUseOf(request);
  if (use === undefined) return work(undefined);
  const token = randomUUID();
  if (!(await insertClaim(database, use, token))) {
    const stored = await findOutcome(database, use);
    if (stored !== undefined) return replay(stored, request);
    if (!(await insertClaim(database, use, token))) throw idempotencyInProgress();
  }

  const { workspace_id, user_id, route, key } = use.identity;
  const primary = [workspace_id, user_id, route, key, token];
  try {
    return await work({
      finish: async (trx, { status, text, revision }) => {
        const values = [...primary, status, text, revision ?? null];
        const finished = await query(trx, { name: 'finish-idempotency-claim', text: FINISH, values });
        if (finished.length !== 1) throw idempotencyInProgress();
      },
      beginExternalEffect: async (db) => {
        const begun = await query(db, { name: 'begin-external-effect', text: BEGIN_EXTERNAL_EFFECT, values: primary });
        if (begun.length !== 1) throw idempotencyInProgress();
      },
    });
  } catch (error) {
    if (isStateConflict(error)) {
      const { status, text } = refusalOf(error, request);
      await query(database, { name: 'refuse-idempotency-claim', text: REFUSE, values: [...primary, status, text] });
    } else {
      await query(database, { name: 'delete-idempotency-claim', text: DELETE_CLAIM, values: primary });
    }
    throw error;
  }
}

function keyUseOf({
  principal,
  routeId,
  idempotencyKey,
  idempotencyHours,
  params,
  bytes,
}: KeyedRequest): KeyUse | undefined {
  if (idempotencyKey === undefined) return undefined;
  return {
    identity: {
      workspace_id: principal.workspace.id,
      user_id: principal.user_id,
      route: routeId,
      key: idempotencyKey,
    },
    // With the path: the same body for another incident is a different request.
    digest: createHash('sha256').update(JSON.stringify(params)).update(bytes).digest(),
    hours: idempotencyHours,
  };
}

/** The stored body is unchanged, except that an error has the ID of the current request. */
function replay({ status, text, revision }: Outcome, { requestId }: KeyedRequest): Reply<never> {
  const body = status < 400 ? text : JSON.stringify({ ...(JSON.parse(text) as ErrorBody), request_id: requestId });
  return { status, text: body, revision, headers: { [REPLAYED_HEADER]: 'true' } };
}

const isStateConflict = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.status === 409 && !error.code.startsWith('idempotency_');

const refusalOf = (error: DomainError, { requestId }: KeyedRequest) => ({
  status: error.status,
  text: JSON.stringify(errorBody(error, requestId)),
});
