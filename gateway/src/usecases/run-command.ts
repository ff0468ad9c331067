import type { Principal } from '@tocsin/contracts';
import type { IdempotencyKey } from '@tocsin/http';
import { commitWith, type Knex } from '@tocsin/postgres';
import { afterCommit, type Clock } from '@tocsin/runtime';
import type { CommandContext } from './actor.ts';

/** What commands of users work with. */
export interface Dependencies {
  database: Knex;
  clock: Clock;
  /** Called after the commit: this gateway applies a change to the next request; others are notified by the database. */
  identitiesChanged: () => void;
}

type Command<Result> = (trx: Knex.Transaction, context: CommandContext) => Promise<Result>;

const contextOf = ({ clock }: Dependencies, { user_id: userId, key_id: keyId, scopes }: Principal): CommandContext => ({
  actor: { type: 'user', userId, keyId, scopes },
  now: clock.now(),
});

/** Runs a command of a user of the API in a transaction. */
export async function runCommand<Result>(
  dependencies: Dependencies,
  principal: Principal,
  command: Command<Result>,
): Promise<Result> {
  const context = contextOf(dependencies, principal);
  const result = await dependencies.database.transaction(async (trx) => command(trx, context));
  afterCommit(dependencies.identitiesChanged);
  return result;
}

/** A response that is stored with an Idempotency-Key. */
export interface CreateOutcome {
  status: number;
  text: string;
  revision: number;
}

/** Does the same for a create, and commits its outcome together with it if there is a key. */
export async function runCreate(
  dependencies: Dependencies,
  { principal, key }: { principal: Principal; key: IdempotencyKey | undefined },
  create: Command<CreateOutcome>,
): Promise<CreateOutcome> {
  return runCommand(dependencies, principal, async (trx, context) => {
    await key?.lock(trx);
    const outcome = await create(trx, context);
    if (key !== undefined) await commitWith(trx, [key.outcome(outcome)]);
    return outcome;
  });
}
