import type { EventWorkspace, ExportedResources } from '@tocsin/schemas';
import { checkRevision, type KeyedOutcome, withOutcome } from '@tocsin/http';
import { type NewEvent, outbox } from '@tocsin/messaging';
import { type ChangesFrom, type ChangeSource, type Knex, query, readChangePage, versionStore } from '@tocsin/postgres';
import type { Clock, Instant } from '@tocsin/runtime';
import { type Caller, eventOrigin } from './caller.ts';
import { changedProperties } from './properties.ts';
import { archive, checkNotArchived, restore, revise, type StoredResource } from './resource.ts';
import type { ResourceStore } from './resource-store.ts';
import { chooseSlug, type SlugRule } from './slug.ts';
import {
  raiseVersion,
  runVersionedTransaction,
  type VersionedDependencies,
  type VersionedTransaction,
} from './versioned-transaction.ts';

/** A kind of resource: its table, and its form in events and replicas. */
export interface ResourceKind<Kind extends StoredResource, Snapshot extends object = object> {
  table: string;
  /** The type of the event of every change. */
  event: 'team.changed' | 'service.changed' | 'custom-field.changed';
  slug: SlugRule;
  store: (db: Knex, workspaceId: number) => ResourceStore<Kind>;
  /** As the data of the event has it: `{ team: … }`. */
  snapshot(resource: Kind): Snapshot;
}

/** A write under way. */
interface Write<Kind, Properties> {
  trx: Knex.Transaction;
  workspaceId: number;
  /** Undefined for a new resource. */
  current: Kind | undefined;
  changed: Partial<Properties>;
}

/** What the commands of one kind do in addition. All may throw a DomainError, and then nothing is changed. */
export interface ResourceRules<Kind extends StoredResource, Properties> {
  /** The values of the properties that a create does not name. */
  defaults: Partial<Kind>;
  /** Runs a command that gives a property a value; default: once. */
  run?<Result>(workspaceId: number, work: () => Promise<Result>): Promise<Result>;
  /** Takes the locks that come before that of the resource. */
  lock?(
    trx: Knex.Transaction,
    workspaceId: number,
    write: { changed?: Partial<Properties>; isRestored?: true },
  ): Promise<void>;
  /** Checks the changed properties before the version is locked. Returns what follows from them. */
  check?(write: Write<Kind, Properties>): Promise<Partial<Kind>>;
  /** The same under the lock of the version. */
  checkLocked?(write: Write<Kind, Properties>): Promise<Partial<Kind>>;
  /** Checks what an archived resource refers to, before it is restored. */
  checkRestored?(trx: Knex.Transaction, resource: Kind): Promise<void>;
}

export interface CommandDependencies extends VersionedDependencies {
  clock: Clock;
}

/**
 * The commands that every kind of resource has: create, update, archive and restore. Each is one transaction of the
 * resource and its event.
 */
export function resourceCommands<Kind extends StoredResource, Properties extends object>(
  dependencies: CommandDependencies,
  kind: ResourceKind<Kind>,
  rules: ResourceRules<Kind, Properties>,
) {
  const context = commandContext(dependencies, kind, rules);
  return { create: creation(context), update: change(context), ...transitions(context) };
}

type CommandContext<Kind extends StoredResource, Properties extends object> = ReturnType<
  typeof commandContext<Kind, Properties>
>;

function commandContext<Kind extends StoredResource, Properties extends object>(
  dependencies: CommandDependencies,
  kind: ResourceKind<Kind>,
  rules: ResourceRules<Kind, Properties>,
) {
  /** Adds the event of a change to the outbox. */
  const write = async (trx: Knex.Transaction, caller: Caller, resource: Kind, version: number) =>
    outbox(trx).add({
      type: kind.event,
      occurredAt: resource.updatedAt,
      ...eventOrigin(caller),
      data: { version, ...kind.snapshot(resource) },
    } as NewEvent);

  const run = async (command: Caller, work: (transaction: VersionedTransaction) => Promise<Kind>): Promise<Kind> => {
    const once = async () => runVersionedTransaction(dependencies, command, work);
    return rules.run === undefined ? once() : rules.run(command.principal.workspace.id, once);
  };

  return { dependencies, kind, rules, write, run };
}

/**
 * Creates a resource. The resource, its event and the outcome of its Idempotency-Key are committed together.
 * @throws DomainError `invalid_request`, `invalid_resource_state` for the quota or the external ID, `duplicate_slug`
 */
const creation =
  <Kind extends StoredResource, Properties extends object>({
    dependencies,
    kind,
    rules,
    run,
    write,
  }: CommandContext<Kind, Properties>) =>
  async (
    command: Caller & {
      body: { name: string; slug?: string | undefined };
      properties: Partial<Properties> & Partial<Kind>;
      outcome?: KeyedOutcome<Kind> | undefined;
    },
  ): Promise<Kind> => {
    const { principal, body, outcome } = command;
    const { workspace } = principal;
    const slugChoice = chooseSlug(body, kind.slug);
    const properties = { ...rules.defaults, ...command.properties };
    const create = async ({ trx, nextVersion }: VersionedTransaction) => {
      const context = { trx, workspaceId: workspace.id, current: undefined, changed: properties };
      await rules.lock?.(trx, workspace.id, { changed: properties });
      const checked = await rules.check?.(context);
      const version = await nextVersion();
      const locked = await rules.checkLocked?.(context);
      const store = kind.store(trx, workspace.id);
      await store.checkQuota({ workspace, isNew: true });
      const now = dependencies.clock.now();
      const base = { workspaceId: workspace.id, revision: 1, createdAt: now, updatedAt: now, archivedAt: null };
      const resource = { ...properties, ...checked, ...locked, ...base } as unknown as Omit<Kind, 'id'>;
      await store.checkExternalId(resource.externalId);
      const stored = await store.insert({ ...resource, slug: await store.resolveSlug(slugChoice) }, version);
      await write(trx, command, stored, version);
      return stored;
    };
    return run(command, async (transaction) => withOutcome(transaction.trx, outcome, async () => create(transaction)));
  };

/**
 * Changes properties of an active resource. Values equal to the stored ones change nothing and are not checked again, so
 * a request may repeat a reference to what has been archived since.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
const change =
  <Kind extends StoredResource, Properties extends object>({
    dependencies,
    kind,
    rules,
    run,
    write,
  }: CommandContext<Kind, Properties>) =>
  async (
    command: Caller & { id: number; expectedRevision: number; properties: Partial<Properties> },
  ): Promise<Kind> => {
    const { principal, id, expectedRevision, properties } = command;
    const workspaceId = principal.workspace.id;
    return run(command, async ({ trx, nextVersion }) => {
      const store = kind.store(trx, workspaceId);
      await rules.lock?.(trx, workspaceId, { changed: properties });
      const current = await store.getForUpdate(id);
      checkNotArchived(current);
      checkRevision(current.revision, expectedRevision);
      const { externalId } = properties as { externalId?: string | null };
      const changed = changedProperties<Properties>(current as unknown as Properties, properties);
      // An unchanged one is checked, too: earlier releases allowed duplicates.
      const isKept = changed === undefined || !('externalId' in changed);
      if (isKept) await store.checkExternalId(externalId, id);
      if (changed === undefined) return current;
      const context = { trx, workspaceId, current, changed };
      const checked = await rules.check?.(context);
      const version = await nextVersion();
      if (!isKept) await store.checkExternalId(externalId, id);
      const locked = await rules.checkLocked?.(context);
      const resource = revise(
        current,
        { ...changed, ...checked, ...locked } as Partial<Kind>,
        dependencies.clock.now(),
      );
      await store.update(resource, version);
      await write(trx, command, resource, version);
      return resource;
    });
  };

function transitions<Kind extends StoredResource, Properties extends object>({
  dependencies,
  kind,
  rules,
  write,
}: CommandContext<Kind, Properties>) {
  const changeState = async (
    command: Caller & { id: number },
    transition: (resource: Kind, now: Instant) => Kind,
    isRestored: boolean,
  ): Promise<Kind> => {
    const { workspace } = command.principal;
    return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
      const store = kind.store(trx, workspace.id);
      if (isRestored) await rules.lock?.(trx, workspace.id, { isRestored });
      const resource = transition(await store.getForUpdate(command.id), dependencies.clock.now());
      if (isRestored) await rules.checkRestored?.(trx, resource);
      const version = await nextVersion();
      if (isRestored) await store.checkQuota({ workspace, isNew: false });
      await store.update(resource, version);
      await write(trx, command, resource, version);
      return resource;
    });
  };

  return {
    /** Archives a resource, which stays readable and keeps its slug. @throws DomainError `not_found`, `invalid_resource_state` */
    archive: async (command: Caller & { id: number }): Promise<Kind> => changeState(command, archive, false),

    /**
     * Restores an archived resource.
     * @throws DomainError `not_found`, `invalid_resource_state` also for the quota, `invalid_relationship_state`
     */
    restore: async (command: Caller & { id: number }): Promise<Kind> => changeState(command, restore, true),
  };
}

/** What pages of changes are read with. */
type ChangeDependencies = Pick<VersionedDependencies, 'database' | 'owner' | 'versions' | 'log'>;

/** Returns a page of what changed in a workspace, for replicas. */
export async function readResourceChanges<Snapshot extends object>(
  dependencies: ChangeDependencies,
  from: ChangesFrom,
  kinds: readonly ResourceKind<StoredResource, Snapshot>[],
) {
  const { database } = dependencies;
  const { workspaceId } = from;
  const sources = kinds.map(({ table, store, snapshot }): ChangeSource<Snapshot> => ({
    table,
    read: async (ids) =>
      (await store(database, workspaceId).listByIds(ids)).map((one) => ({
        id: one.id,
        change: snapshot(one),
      })),
  }));
  const current = async () => versionStore(database, workspaceId).current();
  const page = await readChangePage(database, { from, current, sources });
  if (page.next === null) await raiseVersion(dependencies, { workspaceId, version: page.version });
  return page;
}

/**
 * Makes all resources of a workspace newer than anything that replicas have seen, and publishes them again. For data that
 * were restored to an earlier moment: replicas ignore everything that is older than what they have.
 * @param options.seen the highest version that any replica has seen
 * @param options.batch how many are read together
 * @returns the new version
 */
export async function republishResources(
  trx: Knex.Transaction,
  options: {
    workspace: EventWorkspace;
    seen: number;
    now: Instant;
    batch: number;
    kinds: readonly ResourceKind<StoredResource>[];
  },
): Promise<number> {
  const { workspace, seen, now, batch, kinds } = options;
  const version = await versionStore(trx, workspace.id).raiseAbove(seen);
  for (const { table, event, store, snapshot } of kinds) {
    const rows = await query<{ id: number }>(trx, {
      text: `update ${table} set version = $2 where workspace_id = $1 returning id`,
      values: [workspace.id, version],
    });
    for (let start = 0; start < rows.length; start += batch) {
      const ids = rows.slice(start, start + batch).map(({ id }) => id);
      const resources = await store(trx, workspace.id).listByIds(ids);
      const origin = { type: event, occurredAt: now, workspace, requestId: null };
      await outbox(trx).add(
        ...resources.map((one) => ({ ...origin, data: { version, ...snapshot(one) } }) as NewEvent),
      );
    }
  }
  return version;
}

/** Returns a page of resources by slug for an export (contract: Export). @param lines of the resources of the page */
export async function exportedPage<Kind extends StoredResource>(
  store: Pick<ResourceStore<Kind>, 'listBySlug'>,
  { size, after }: { size: number; after: string },
  lines: (page: Kind[]) => ExportedResources['resources'] | Promise<ExportedResources['resources']>,
): Promise<ExportedResources> {
  const rows = await store.listBySlug({ limit: size + 1, after });
  const page = rows.slice(0, size);
  return { resources: await lines(page), next: rows.length > size ? (page.at(-1)?.slug ?? null) : null };
}
