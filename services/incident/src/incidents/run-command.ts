/**
 * `incidents` is the incident and the one way to change it (contract: Incidents, Changelog). `runCommand` runs each
 * command in one order (ADR 88): bring its replicas up to date, prepare, open the transaction, lock the
 * Idempotency-Key, lock the incident and read, decide without the database, store with the outcome of the key, commit,
 * wake the relay. `changeIncident` raises the revision by one, and writes row, changelog entry and events: they are
 * there together or not at all, and events have the order of revisions, because the row is locked before them. A PATCH
 * that depends on no other row tries without a lock first (ADR 104). What was checked against something out of date
 * runs again, eight times at most. A crash before the commit leaves nothing; after it, the relay of any process
 * publishes the events. Reports of other systems (`messaging/`) do not raise the revision.
 */
import type { WorkspaceContext } from '@tocsin/schemas';
import { DomainError, type KeyedOutcome, serviceUnavailable } from '@tocsin/http';
import { brokenConstraint, type Knex, pipeline, type Statement } from '@tocsin/postgres';
import { type Clock, currentDryRun, type Instant } from '@tocsin/runtime';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Configurations } from '../configuration/store/configuration-store.ts';
import type { Freshness, Replicas } from '../replicas/replicas.ts';
import type { ReplicaOwner } from '../replicas/store/replica-store.ts';
import { Retry, type RetryReason } from '../shared/domain/retry.ts';
import type { StorageUse } from '../storage/domain/storage-quota.ts';
import type { WorkspaceStorage } from '../storage/workspace-storage.ts';
import { EXTERNAL_ID_INDEX, incidentStore } from './store/incident-store.ts';

/** What a request is checked against before it writes. */
interface Checked {
  workspace: WorkspaceContext;
  /** The owners of the replicas that `checkByReplica` uses. */
  replicas?: readonly ReplicaOwner[];
  /** The one that an incident gets, if it gets one. */
  externalId?: string | null | undefined;
}

/** What one attempt is checked against. */
export interface Fresh {
  freshness: Freshness;
  readConfiguration: () => Promise<Configuration>;
}

export interface RetryDependencies {
  database: Knex;
  configurations: Configurations;
  replicas: Replicas;
}

/** Each of three owners has to confirm a refusal once at most. */
const MAX_ATTEMPTS = 8;

/**
 * Runs the work of a request, and again if what it was checked against was out of date: it must have no effect and hold no
 * lock after it throws. An owner may fail to announce a version, so before a replica refuses anything its owner is called
 * (ADR 17). An index decides whether an external ID is free, also between concurrent writes.
 * @throws DomainError `invalid_resource_state` with the ID of the incident that has the external ID; `service_unavailable` if
 *   something changes at each attempt
 */
export async function withRetries<Result>(
  { database, configurations, replicas }: RetryDependencies,
  { workspace, replicas: owners = [], externalId }: Checked,
  work: (fresh: Fresh) => Promise<Result>,
): Promise<Result> {
  let freshness = await replicas.refresh(workspace, ...owners);
  let configuration: Configuration | undefined;
  const readConfiguration = async () => (configuration ??= await configurations.get(workspace));
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work({ freshness, readConfiguration });
    } catch (error) {
      const reason = reasonOf(error);
      if (reason === undefined) throw error;
      if (reason === 'external_id') await checkFree(database, workspace.id, externalId);
      if (attempt === MAX_ATTEMPTS) throw serviceUnavailable('What the request depends on is changing; try again');
      if (reason === 'configuration') configuration = await configurations.reload(workspace);
      else if (reason !== 'external_id') freshness = await replicas.confirm(workspace, freshness, reason);
    }
  }
}

function reasonOf(error: unknown): RetryReason | undefined {
  if (error instanceof Retry) return error.reason;
  // In a partitioned table, the index of a partition has a number after the name.
  return brokenConstraint(error)?.startsWith(EXTERNAL_ID_INDEX) === true ? 'external_id' : undefined;
}

/** A write that gives several external IDs finds out at its next attempt which are taken. */
async function checkFree(database: Knex, workspaceId: number, externalId: string | null | undefined): Promise<void> {
  if (typeof externalId !== 'string') return;
  const existing = await incidentStore(database, workspaceId).findByExternalId(externalId);
  if (existing === undefined) return;
  throw new DomainError('invalid_resource_state', `Another incident has the external ID ${externalId}`, {
    field: 'external_id',
    ...(existing.isVisible && { details: { existing_id: existing.id } }),
  });
}

export interface CommandDependencies extends RetryDependencies {
  clock: Clock;
  storage: Pick<WorkspaceStorage, 'check' | 'count'>;
  /** Makes the relay publish the outbox now; call it after the commit. */
  wakeRelay: () => void;
}

/** What one attempt of a command works with. */
export interface Attempt extends Fresh {
  /** Reads no database. @throws DomainError `invalid_resource_state` for the quota of storage */
  checkStorage: (use: StorageUse) => void;
}

/** What becomes of a command. Nothing has happened yet. */
export type Decision<Answer> =
  | {
      /** The last statements of the transaction, which commit with the outcome; none: nothing changes. */
      stores: readonly Statement[];
      /** Gets their rows, except in a command with an outcome, whose answer is stored with them. */
      answer: (rows: readonly unknown[][]) => Answer;
    }
  /** Work whose statements depend on each other. */
  | { stores: (trx: Knex.Transaction) => Promise<Answer> };

/** A command reads, decides and stores. The runner locks its key, and stores the outcome with it. */
interface Command<Prepared, Read, Answer> extends Checked {
  outcome?: KeyedOutcome<Answer> | undefined;
  /** Comes before the transaction: while a row is locked, no request calls a service or waits for a second connection. */
  prepares?: (attempt: Attempt) => Promise<Prepared>;
  /** Locks and reads what the decision depends on. @throws DomainError `not_found` */
  reads?: (trx: Knex.Transaction, attempt: Attempt & { prepared: Prepared }) => Promise<Read>;
  /** Without the database and any effect. @throws what refuses the command, in the order of the checks */
  decides: (read: Read, attempt: Attempt & { prepared: Prepared; now: Instant }) => Decision<Answer>;
  /** What an error of the statements means to the client. */
  explains?: (error: unknown) => unknown;
  /** Tries without a lock what is decided on a guess; undefined: the transaction has to decide (ADR 104). */
  optimistic?: ((decide: (read: Read) => Decision<Answer>) => Promise<Answer | undefined>) | undefined;
  /** It stores by one statement, which commits by itself, and with the key. */
  isOneStatement?: boolean;
}

/**
 * Runs a command: what it is checked against, then its preparation, then its transaction. After the commit, its events are
 * published.
 * @throws as `withRetries`, and what the command throws
 */
export async function runCommand<Answer, Read = undefined, Prepared = undefined>(
  dependencies: CommandDependencies,
  command: Command<Prepared, Read, Answer>,
): Promise<Answer> {
  const { database, clock, storage, wakeRelay } = dependencies;
  const { workspace, outcome, explains = (error: unknown) => error } = command;
  const uses = new Set<StorageUse>();
  const checkStorage = (use: StorageUse) => {
    storage.check(workspace, use);
    uses.add(use);
  };
  const answer = await withRetries(dependencies, command, async (fresh) => {
    const attempt: Attempt = { ...fresh, checkStorage };
    const decide = (read: Read, prepared: Prepared) =>
      command.decides(read, { ...attempt, prepared, now: clock.now() });
    if (outcome === undefined && currentDryRun() === undefined) {
      const stored = await command.optimistic?.((read) => decide(read, undefined as Prepared));
      if (stored !== undefined) return stored;
    }
    const prepared = (await command.prepares?.(attempt)) as Prepared;
    const run = async (trx: Knex.Transaction): Promise<Answer> => {
      await outcome?.key.lock(trx);
      const read = (await command.reads?.(trx, { ...attempt, prepared })) as Read;
      return store(trx, decide(read, prepared), outcome);
    };
    try {
      return await (command.isOneStatement === true ? run(database as Knex.Transaction) : database.transaction(run));
    } catch (error) {
      throw explains(error);
    }
  });
  if (uses.size > 0) storage.count(workspace.id);
  wakeRelay();
  return answer;
}

/** Stores what was decided and, if the command has a key, its outcome, in one round trip if possible. */
async function store<Answer>(
  trx: Knex.Transaction,
  decision: Decision<Answer>,
  outcome: KeyedOutcome<Answer> | undefined,
): Promise<Answer> {
  const outcomeOf = outcome && ((answer: Answer) => outcome.key.outcome(outcome.responseOf(answer)));
  if ('answer' in decision) {
    const { stores, answer } = decision;
    const statements = outcomeOf === undefined ? stores : [...stores, outcomeOf(answer([]))];
    return answer(statements.length === 0 ? [] : await pipeline(trx, statements, { commit: true }));
  }
  const answer = await decision.stores(trx);
  if (outcomeOf !== undefined) await pipeline(trx, [outcomeOf(answer)], { commit: true });
  return answer;
}
