/**
 * `accounts` is workspaces, users and API keys, as requests of users and commands of operators (`../administration.ts`)
 * change them (contract: Users, API keys, Administration). A command is one transaction. One about users or keys locks
 * the row of their workspace first, so such commands of a workspace wait for each other: quotas are exact, and the last
 * owner stays. Then it checks who acts as they are now (`actor.ts`), and that nobody passes on more than they have
 * (`grants.ts`). The change, its events and its entry in the audit log commit together, with the outcome of an
 * Idempotency-Key, in which a token is encrypted. The notice to all gateways is the last statement that locks anything.
 * After the commit this gateway empties its caches, so the change applies to its next request, and to those of others
 * within a second.
 */
import { idempotently, type Reply, type RouteRequest, withOutcome } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { afterCommit, type Clock } from '@tocsin/runtime';
import type { CommandContext } from './actor.ts';

/** What commands of users work with. */
export interface Dependencies {
  database: Knex;
  clock: Clock;
  /** Called after the commit: this gateway applies a change to the next request; others are notified by the database. */
  identitiesChanged: () => void;
}

type Command<Input, Result> = (trx: Knex.Transaction, input: Input, context: CommandContext) => Promise<Result>;

type CommandRequest = Parameters<typeof idempotently>[1] & Pick<RouteRequest<unknown, unknown, unknown>, 'principal'>;

export const contextOf = (
  { clock }: Pick<Dependencies, 'clock'>,
  { principal, requestId }: Pick<CommandRequest, 'principal' | 'requestId'>,
): CommandContext => ({
  actor: { type: 'user', userId: principal.user_id, keyId: principal.key_id, scopes: principal.scopes },
  requestId,
  now: clock.now(),
});

/** Runs a command of a user of the API, on their workspace, in a transaction. */
export async function runCommand<Input extends { workspaceId: number }, Result>(
  dependencies: Dependencies,
  request: Pick<CommandRequest, 'principal' | 'requestId'>,
  [command, input]: readonly [Command<Input, Result>, Omit<Input, 'workspaceId'>],
): Promise<Result> {
  const context = contextOf(dependencies, request);
  const whole = { ...input, workspaceId: request.principal.workspace.id } as Input;
  const result = await dependencies.database.transaction(async (trx) => command(trx, whole, context));
  afterCommit(dependencies.identitiesChanged);
  return result;
}

/** A response that is stored with an Idempotency-Key. */
interface CreateOutcome {
  status: number;
  text: string;
  revision: number;
}

/** Does the same for a create, and commits its outcome together with it if the request has an Idempotency-Key. */
export async function runCreate<Input extends { workspaceId: number }, Result>(
  dependencies: Dependencies,
  request: CommandRequest,
  [create, input, outcomeOf]: readonly [
    Command<Input, Result>,
    Omit<Input, 'workspaceId'>,
    (result: Result) => CreateOutcome,
  ],
): Promise<Reply<never>> {
  return idempotently(dependencies.database, request, async (key) => {
    const outcome = key && { key, responseOf: (response: CreateOutcome) => response };
    const keyed: Command<Input, CreateOutcome> = async (trx, whole, context) =>
      withOutcome(trx, outcome, async () => outcomeOf(await create(trx, whole, context)));
    return runCommand(dependencies, request, [keyed, input]);
  });
}
