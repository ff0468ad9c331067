import type { IdempotencyKey, RouteRequest } from '@tocsin/http';
import { commitPipeline, type Knex } from '@tocsin/postgres';
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

/** The request of a command. */
type CommandRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'principal' | 'requestId'>;

const contextOf = ({ clock }: Dependencies, { principal, requestId }: CommandRequest): CommandContext => ({
  actor: { type: 'user', userId: principal.user_id, keyId: principal.key_id, scopes: principal.scopes },
  requestId,
  now: clock.now(),
});

/** Runs a command of a user of the API in a transaction. */
export async function runCommand<Result>(
  dependencies: Dependencies,
  request: CommandRequest,
  command: Command<Result>,
): Promise<Result> {
  const context = contextOf(dependencies, request);
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
  { request, key }: { request: CommandRequest; key: IdempotencyKey | undefined },
  create: Command<CreateOutcome>,
): Promise<CreateOutcome> {
  return runCommand(dependencies, request, async (trx, context) => {
    await key?.lock(trx);
    const outcome = await create(trx, context);
    if (key !== undefined) await commitPipeline(trx, [key.outcome(outcome)]);
    return outcome;
  });
}
