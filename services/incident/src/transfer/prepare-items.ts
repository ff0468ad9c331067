import { findValueViolation, violationField } from '@tocsin/contracts';
import { DomainError, invalidRequest } from '@tocsin/http';
import { type Caller, definedProperties } from '@tocsin/resources';
import type { Instant } from '@tocsin/runtime';
import { type Configuration, selectEntry } from '../configuration/domain/configuration.ts';
import type { Dependencies } from '../dependencies.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import type { Fields } from '../replicas/domain/fields.ts';
import { checkByReplica } from '../replicas/replicas.ts';
import { replicaStore } from '../replicas/store/replica-store.ts';
import type { TimelineEvent } from '../timeline/domain/timeline-event.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';
import type { FieldValue } from '../values/domain/values.ts';
import { type ImportedEvent, type ImportItem, type Refusal, refusalOf } from './domain/item.ts';
import { type Person, textOfPerson } from './domain/person.ts';
import type { PreparedEvent, PreparedItem } from './domain/plan.ts';

export interface PrepareOptions {
  caller: Caller;
  items: readonly ImportItem[];
  configuration: Configuration;
  /** By lower case email address. */
  userIds: ReadonlyMap<string, number>;
  now: Instant;
}

/** Resolves what items refer to: statuses, people, teams, fields and groups. Refuses items by themselves. */
export async function prepareItems(
  dependencies: Dependencies,
  options: PrepareOptions,
): Promise<(PreparedItem | Refusal)[]> {
  const { workspace } = options.caller.principal;
  const groups = await timelineGroupStore(dependencies.database, workspace.id).list();
  const groupIds = new Map(groups.map(({ id, name }) => [name, id]).toReversed() as [string, number][]);
  const slugs = options.items.flatMap(({ team }) => team ?? []);
  return dependencies.replicas.withFreshReplicas(workspace, ['catalog', 'custom_field'], async (freshness) => {
    const teamIds = await replicaStore(dependencies.database, workspace.id).teamIds(slugs);
    const fields = await dependencies.fields.get(workspace.id, freshness.get('custom_field')?.version);
    const prepare = async (item: ImportItem): Promise<PreparedItem | Refusal> => {
      try {
        const teamId = await checkByReplica(freshness, 'catalog', () => teamOf(item, teamIds));
        const values = await checkByReplica(freshness, 'custom_field', () => valuesOf(item, fields));
        return { ...prepareItem(item, { ...options, groupIds, teamId }), values };
      } catch (error) {
        return refusalOf(error);
      }
    };
    return Promise.all(options.items.map(prepare));
  });
}

/** Returns null for no team, and `undefined` if the item does not say. */
function teamOf({ team }: ImportItem, teamIds: ReadonlyMap<string, number>): number | null | undefined {
  if (typeof team !== 'string') return team;
  const id = teamIds.get(team);
  if (id === undefined) throw invalidRequest('team', 'Must be the slug of a team');
  return id;
}

/** Values of archived fields belong to history, too. */
const valuesOf = ({ values }: ImportItem, fields: Fields): FieldValue[] =>
  Object.entries(values).map(([slug, value]) => {
    const field = fields.findBySlug(slug);
    if (field === undefined) throw invalidRequest(`values.${slug}`, 'Must be an existing custom field');
    const violation = value === null ? undefined : findValueViolation(field, value);
    if (violation === undefined) return { field, value };
    throw new DomainError(violation.code, violation.message, { field: violationField(`values.${slug}`, violation) });
  });

type Optional = Pick<
  Incident,
  'externalUrl' | 'teamId' | 'statusChangedAt' | 'archivedAt' | 'incidentManager' | 'incidentResponders'
>;

function prepareItem(
  item: ImportItem,
  context: PrepareOptions & { groupIds: ReadonlyMap<string, number>; teamId: number | null | undefined },
): Omit<PreparedItem, 'values'> {
  const { configuration, userIds, now, groupIds, teamId } = context;
  const { properties, createdAt, manager, responders } = item;
  const textOf = (person: Person) => textOfPerson(person, userIds);
  selectEntry(configuration.statuses, properties.status, 'status');
  selectEntry(configuration.severities, properties.severity, 'severity');
  if (createdAt > now) throw invalidRequest('created_at', 'Must not be in the future');
  const events = item.timeline.map((event, index) => prepareEvent(event, { index, groupIds, textOf }));
  const ids = events.map(({ externalId }) => externalId);
  const repeated = ids.findIndex((id, index) => ids.indexOf(id) !== index);
  if (repeated !== -1) throw invalidRequest(`timeline.${repeated}.external_id`, 'Must not be repeated');
  return {
    externalId: item.externalId,
    given: {
      ...definedProperties<Optional>({
        externalUrl: item.externalUrl,
        teamId,
        statusChangedAt: item.statusChangedAt,
        archivedAt: item.archivedAt,
        incidentManager: manager === null ? '' : manager && textOf(manager),
        incidentResponders: responders && [...new Set(responders.map(textOf))],
      }),
      ...properties,
      createdAt,
      createdBy: textOf(item.author),
    },
    events,
    changelog: item.changelog.map(({ actor, ...entry }) => ({ ...entry, actor: textOf(actor) })),
  };
}

function prepareEvent(
  { externalId, author, group, source, sourceRef, properties }: ImportedEvent,
  context: { index: number; groupIds: ReadonlyMap<string, number>; textOf: (person: Person) => string },
): PreparedEvent {
  const groupId = typeof group === 'string' ? context.groupIds.get(group) : group;
  if (typeof group === 'string' && groupId === undefined) {
    throw invalidRequest(`timeline.${context.index}.group`, 'Must be the name of a timeline group');
  }
  return {
    externalId,
    ...properties,
    ...definedProperties<Pick<TimelineEvent, 'groupId' | 'source' | 'sourceRef'>>({ groupId, source, sourceRef }),
    createdBy: context.textOf(author),
  };
}
