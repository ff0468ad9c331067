import type { WorkspaceContext } from '@tocsin/contracts';
import { DomainError, type IdempotencyKey, serviceUnavailable } from '@tocsin/http';
import { brokenConstraint, type Knex, pipeline } from '@tocsin/postgres';
import { type Clock, currentDryRun } from '@tocsin/runtime';
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
  return brokenConstraint(error) === EXTERNAL_ID_INDEX ? 'external_id' : undefined;
}

/** A write that gives several external IDs finds out at its next attempt which are taken. */
async function checkFree(database: Knex, workspaceId: number, externalId: string | null | undefined): Promise<void> {
  if (typeof externalId !== 'string') return;
  const existing = await incidentStore(database, workspaceId).findByExternalId(externalId);
  if (existing === undefined) return;
  throw new DomainError('invalid_resource_state', `Another incident has the external ID ${externalId}`, {
    field: 'external_id',
    details: { existing_id: existing.id },
  });
}

export interface CommandDependencies extends RetryDependencies {
  clock: Clock;
  storage: Pick<WorkspaceStorage, 'check'>;
  /** Makes the relay publish the outbox now; call it after the commit. */
  wakeRelay: () => void;
}

/** What one attempt of a command works with. */
export interface Attempt extends Fresh {
  /** @throws DomainError `invalid_resource_state` for the quota of storage */
  checkStorage: (use: StorageUse) => void;
}

/** What commits with a command, so that a repetition with the key gets it again (contract: Idempotency). */
export interface CommandOutcome<Result> {
  key: IdempotencyKey;
  render: (result: Result) => string;
}

type Command<Prepared, Result> = Checked & {
  /** Comes before the transaction: while a row is locked, no request calls a service or waits for a second connection. */
  prepare?: (attempt: Attempt) => Promise<Prepared>;
} & (
    | {
        /** Writes without a lock what needs none; undefined if the transaction has to decide, also about a refusal. */
        optimistic?: (attempt: Attempt) => Promise<Result | undefined>;
        transaction: (trx: Knex.Transaction, attempt: Attempt & { prepared: Prepared }) => Promise<Result>;
        /** Is written after the transaction's work, which must not commit then. */
        outcome?: CommandOutcome<Result> | undefined;
      }
    /** Commits by itself, in one statement for instance. */
    | { write: (prepared: Prepared) => Promise<Result> }
  );

/**
 * Runs a command: what it is checked against, then its preparation, then its transaction. After the commit, its events are
 * published.
 * @throws as `withRetries`, and what the command throws
 */
export async function runCommand<Result, Prepared = undefined>(
  dependencies: CommandDependencies,
  command: Command<Prepared, Result>,
): Promise<Result> {
  const { database, storage, wakeRelay } = dependencies;
  const { workspace } = command;
  const result = await withRetries(dependencies, command, async (fresh) => {
    const attempt: Attempt = { ...fresh, checkStorage: (use) => storage.check(workspace, use) };
    if ('transaction' in command && command.outcome === undefined && currentDryRun() === undefined) {
      const result = await command.optimistic?.(attempt);
      if (result !== undefined) return result;
    }
    const prepared = (await command.prepare?.(attempt)) as Prepared;
    if ('write' in command) return command.write(prepared);
    return database.transaction(async (trx) => {
      const { outcome } = command;
      await outcome?.key.lock(trx);
      const done = await command.transaction(trx, { ...attempt, prepared });
      if (outcome === undefined) return done;
      const text = outcome.render(done);
      await pipeline(trx, [outcome.key.outcome({ status: 200, text, revision: undefined })], { commit: true });
      return done;
    });
  });
  wakeRelay();
  return result;
}
