/**
 * `transfer` moves history in and out (contract: Import, Export). Imports of a workspace run one after the other, with
 * pauses, and two at a time in a process (ADR 63). What items refer to is resolved before the transaction, and an item
 * is refused by itself. One transaction locks the counter, with relations also the turn of duplicates and all incidents
 * in the order of their IDs, reads what is stored, decides (`domain/plan.ts`), and writes the items in rounds, of which
 * each has one part of an incident. Everything commits but what is refused, with the events and an entry in the audit
 * log; a failure or a crash leaves nothing, and a repetition changes nothing. `export-incidents.ts` reads lines as fast
 * as the client takes them, each incident as of one moment, and names a position every 25 incidents, from which another
 * request goes on.
 */
import { throttleByWorkspace, invalidRequest } from '@tocsin/http';
import { type Caller, definedProperties } from '@tocsin/versioned-resources';
import type { FairQueue, Instant } from '@tocsin/runtime';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import {
  type ImportItem,
  type ImportResult,
  peopleOf,
  type Refusal,
  type ImportedChange,
  type ImportedEvent,
  type ImportedFollowUp,
  isRefusal,
  refusalOf,
  type Person,
  textOfPerson,
} from './domain/item.ts';
import type { PreparedItem, PreparedChange, PreparedEvent, PreparedFollowUp, PreparedValue } from './domain/plan.ts';
import { preparePostmortem } from './domain/plan-postmortem.ts';
import { writeItems } from './write-items.ts';
import { type Configuration, selectEntry } from '../configuration/domain/configuration.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { shortenChanges } from '../incidents/domain/changes.ts';
import { toLargeValue } from '../incidents/domain/large-value.ts';
import type { Fields } from '../replicas/domain/fields.ts';
import { checkByReplica, type Freshness } from '../replicas/replicas.ts';
import { replicatedTeams } from '../replicas/store/replica-reads.ts';
import type { FollowUp } from '../follow-ups/domain/follow-up.ts';
import type { TimelineEvent } from '../timeline/domain/timeline-event.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';
import type { TableStatistics } from '../shared/store/table-statistics.ts';
import { checkValue } from '../values/domain/values.ts';

export interface ImportDependencies extends CommandDependencies {
  /** By the ID of their workspace. */
  imports: FairQueue<number>;
  statistics: TableStatistics;
  owners: Pick<Owners, 'findPeople'>;
}

interface ImportCommand extends Caller {
  items: readonly (ImportItem | Refusal)[];
}

/**
 * Imports incidents from other systems: creates them, or changes those that have the same source and ID (contract:
 * Import). An item that is refused stops no other.
 * @throws DomainError `service_unavailable` if references cannot be checked
 */
export async function importIncidents(
  dependencies: ImportDependencies,
  command: ImportCommand,
): Promise<ImportResult[]> {
  const { principal, items } = command;
  const { workspace } = principal;
  const userIds = await findUserIds(dependencies, workspace.id, items);
  const run = async () =>
    runCommand(dependencies, {
      workspace,
      replicas: ['catalog', 'custom_field'],
      prepares: async ({ freshness, readConfiguration }) => {
        const configuration = await readConfiguration();
        const now = dependencies.clock.now();
        const accepted = items.filter((item): item is ImportItem => !('outcome' in item));
        const context = { workspaceId: workspace.id, freshness, configuration, userIds, now };
        const ready = await prepareItems(dependencies, { ...context, items: accepted });
        const prepared = items.map((item) => ('outcome' in item ? item : (ready.shift() as PreparedItem | Refusal)));
        return { items: prepared, configuration, now };
      },
      // Each round of items reads and decides by itself.
      decides: (_, { prepared, checkStorage }) => ({
        stores: async (trx) => writeItems(trx, { ...prepared, caller: command, checkStorage }),
      }),
    });
  const results = await throttleByWorkspace(workspace.id, async () => dependencies.imports.run(workspace.id, run));
  dependencies.statistics.imported(
    results.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length,
  );
  return results;
}

/** Returns the IDs of the users with the addresses that items name, by lower case address. */
async function findUserIds(
  { owners }: ImportDependencies,
  workspaceId: number,
  items: ImportCommand['items'],
): Promise<Map<string, number>> {
  const people = items.flatMap((item) => ('outcome' in item ? [] : peopleOf(item)));
  const emails = [...new Set(people.flatMap(({ email }) => email?.toLowerCase() ?? []))];
  const users = emails.length === 0 ? [] : await owners.findPeople(workspaceId, { emails });
  return new Map(users.map(({ id, email }) => [email.toLowerCase(), id]));
}

interface PrepareOptions {
  workspaceId: number;
  items: readonly ImportItem[];
  freshness: Freshness;
  configuration: Configuration;
  /** By lower case email address. */
  userIds: ReadonlyMap<string, number>;
  now: Instant;
}

/** Resolves what items refer to: statuses, people, teams, fields and groups. Refuses items by themselves. */
async function prepareItems(
  { database, replicas }: CommandDependencies,
  options: PrepareOptions,
): Promise<(PreparedItem | Refusal)[]> {
  const { workspaceId, items, freshness } = options;
  const groups = await timelineGroupStore(database, workspaceId).list();
  const groupIds = new Map(groups.map(({ id, name }) => [name, id]).toReversed() as [string, number][]);
  const teamIds = await replicatedTeams(database, workspaceId).findIds(items.flatMap(({ team }) => team ?? []));
  const definitions = await replicas.fields.get(workspaceId, freshness.get('custom_field')?.version);
  const prepare = async (item: ImportItem): Promise<PreparedItem | Refusal> => {
    try {
      const teamId = checkByReplica(freshness, 'catalog', () => teamOf(item, teamIds));
      const values = await Promise.all(
        Object.entries(item.values).map(async (named) => valueOf(named, { fields: definitions, freshness })),
      );
      return { ...prepareItem(item, { ...options, groupIds, teamId }), values };
    } catch (error) {
      return refusalOf(error);
    }
  };
  return Promise.all(items.map(prepare));
}

/** Returns null for no team, and `undefined` if the item does not say. */
function teamOf({ team }: ImportItem, teamIds: ReadonlyMap<string, number>): number | null | undefined {
  if (typeof team !== 'string') return team;
  const id = teamIds.get(team);
  if (id === undefined) throw invalidRequest('team', 'Must be the slug of a team');
  return id;
}

/** Values of archived fields belong to history, too. */
async function valueOf(
  [slug, value]: [string, unknown],
  { fields, freshness }: { fields: Fields; freshness: Freshness },
): Promise<PreparedValue> {
  const at = `values.${slug}`;
  const field = checkByReplica(freshness, 'custom_field', () => {
    const definition = fields.findBySlug(slug);
    if (definition === undefined) throw invalidRequest(at, 'Must be an existing custom field');
    return definition;
  });
  try {
    checkByReplica(freshness, 'custom_field', () => {
      checkValue({ field, value }, { at });
    });
    return { field, value };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { field, value, violation: error };
  }
}

type Optional = Pick<
  Incident,
  | 'externalUrl'
  | 'teamId'
  | 'createdByKey'
  | 'firstActedAt'
  | 'statusChangedAt'
  | 'archivedAt'
  | 'isUnhandledAlert'
  | 'incidentManager'
  | 'incidentResponders'
  | 'roles'
>;

function prepareItem(
  item: ImportItem,
  context: PrepareOptions & { groupIds: ReadonlyMap<string, number>; teamId: number | null | undefined },
): Omit<PreparedItem, 'values'> {
  const { configuration, userIds, now, groupIds, teamId } = context;
  const { properties, createdAt, manager, responders, roles } = item;
  const textOf = (person: Person) => textOfPerson(person, userIds);
  const textsOf = (people: readonly Person[]) => [...new Set(people.map(textOf))];
  selectEntry(configuration.statuses, properties.status, 'status');
  selectEntry(configuration.severities, properties.severity, 'severity');
  if (createdAt > now) throw invalidRequest('created_at', 'Must not be in the future');
  const events = item.timeline.map((event, index) => prepareEvent(event, { index, groupIds, textOf }));
  checkDistinct('timeline', events);
  const followUps = item.followUps.map((followUp, index) => prepareFollowUp(followUp, { index, now, textOf }));
  checkDistinct('follow_ups', followUps);
  const relations = item.relations.map(({ type, externalId, createdAt: relatedAt, author }, index) => {
    const at = (name: string) => `relations.${index}.${name}`;
    if (externalId === item.externalId) throw invalidRequest(at('external'), 'Must be another incident');
    if (relatedAt > now) throw invalidRequest(at('created_at'), 'Must not be in the future');
    return { type, externalId, createdAt: relatedAt, createdBy: textOf(author) };
  });
  const importKeys = new Set<string>();
  return {
    externalId: item.externalId,
    given: {
      ...definedProperties<Optional>({
        externalUrl: item.externalUrl,
        teamId,
        createdByKey: item.createdByKey,
        firstActedAt: item.firstActedAt,
        statusChangedAt: item.statusChangedAt,
        archivedAt: item.archivedAt,
        isUnhandledAlert: item.isUnhandledAlert,
        incidentManager: manager === null ? '' : manager && textOf(manager),
        incidentResponders: responders && textsOf(responders),
        roles:
          roles && Object.fromEntries(Object.entries(roles).map(([key, holders]) => [key, textsOf(holders)] as const)),
      }),
      ...properties,
      createdAt,
      createdBy: textOf(item.author),
    },
    events,
    followUps,
    postmortem: item.postmortem && preparePostmortem(item.postmortem, { now, textOf }),
    relations,
    changelog: item.changelog
      .map((entry) => prepareChange(entry, textOf))
      .filter(({ importKey }) => importKeys.size < importKeys.add(importKey).size),
  };
}

function checkDistinct(property: string, parts: readonly { externalId: string }[]): void {
  const ids = new Set<string>();
  const repeated = parts.findIndex(({ externalId }) => ids.size === ids.add(externalId).size);
  if (repeated !== -1) throw invalidRequest(`${property}.${repeated}.external_id`, 'Must not be repeated');
}

function prepareFollowUp(
  { externalId, author, owner, createdAt, completedAt, updatedAt, properties }: ImportedFollowUp,
  { index, now, textOf }: { index: number; now: Instant; textOf: (person: Person) => string },
): PreparedFollowUp {
  const at = (name: string) => `follow_ups.${index}.${name}`;
  if (createdAt > now) throw invalidRequest(at('created_at'), 'Must not be in the future');
  if (updatedAt !== undefined && updatedAt > now) throw invalidRequest(at('updated_at'), 'Must not be in the future');
  if (completedAt && properties.status !== 'done')
    throw invalidRequest(at('completed_at'), 'Is only allowed with the status done');
  return {
    externalId,
    ...properties,
    ...definedProperties<Pick<FollowUp, 'owner' | 'completedAt' | 'updatedAt'>>({
      owner: owner === null ? '' : owner && textOf(owner),
      // Null follows from the status.
      completedAt: completedAt ?? undefined,
      updatedAt,
    }),
    createdAt,
    createdBy: textOf(author),
  };
}

/** The key has nothing of the workspace: somebody who becomes a user later is the same person. */
function prepareChange(entry: ImportedChange, textOf: (person: Person) => string): PreparedChange {
  const { changedAt, actor, key } = entry;
  const { changes } = shortenChanges(entry.changes);
  const who = actor.email?.toLowerCase() ?? actor.name;
  const change = {
    changedAt,
    actor: textOf(actor),
    keyName: key?.name ?? null,
    keyPrefix: key?.prefix ?? null,
    changes,
  };
  return { ...change, importKey: toLargeValue([changedAt, who, changes]).digest };
}

function prepareEvent(
  { externalId, author, createdByKey, group, source, sourceRef, properties }: ImportedEvent,
  context: { index: number; groupIds: ReadonlyMap<string, number>; textOf: (person: Person) => string },
): PreparedEvent {
  const groupId = typeof group === 'string' ? context.groupIds.get(group) : group;
  if (typeof group === 'string' && groupId === undefined) {
    throw invalidRequest(`timeline.${context.index}.group`, 'Must be the name of a timeline group');
  }
  return {
    externalId,
    ...properties,
    ...definedProperties<Pick<TimelineEvent, 'groupId' | 'source' | 'sourceRef' | 'createdByKey'>>({
      ...{ groupId, source, sourceRef, createdByKey },
    }),
    createdBy: context.textOf(author),
  };
}
