import { invalidRequest } from '@tocsin/http';
import { type Knex, pipeline, query, type Statement } from '@tocsin/postgres';
import type { Change } from '../incidents/domain/changes.ts';
import {
  changeOf,
  checkNoCircle,
  checkRoom,
  GIVEN_TYPES,
  type GivenType,
  inverseOf,
  mayName,
  type RelationType,
} from '../relations/domain/relation.ts';
import { insertRelation, lockDuplicates, nextRelation, relationStore } from '../relations/store/relation-store.ts';
import { type ImportResult, isRefusal, type Refusal } from './domain/item.ts';
import type { PreparedItem, PreparedRelation } from './domain/plan.ts';
import { lockCounter, lockNamed, type NamedIncident } from './store/import-store.ts';

type Items = readonly (PreparedItem | Refusal)[];

/**
 * The locks of an import with relations, which come before all others: as every change of several incidents does, in the
 * order of their IDs, behind the turn of duplicates.
 */
export function relationLocks(workspaceId: number, items: Items): Statement[] {
  const accepted = items.filter((item): item is PreparedItem => !('outcome' in item));
  const related = accepted.flatMap(({ relations }) => relations.map(({ externalId }) => externalId));
  if (related.length === 0) return [];
  const named = lockNamed(workspaceId, [...accepted.map(({ externalId }) => externalId), ...related]);
  return [lockCounter(workspaceId), lockDuplicates(workspaceId), named];
}

/**
 * Adds the relations of items that the workspace lacks, and whose incidents imports made. Others are left out with a note:
 * the item of the other incident has them, too, and adds them when it comes.
 * @param results of the items, which get the notes
 * @returns the changes of each incident, by its ID, and the places of the items that made some
 */
export async function relateItems(
  trx: Knex.Transaction,
  { workspaceId, items, results }: { workspaceId: number; items: Items; results: readonly ImportResult[] },
): Promise<{ changes: Map<number, Change[]>; places: Set<number> }> {
  const wanted = items.flatMap((item, place) =>
    'outcome' in item ? [] : item.relations.map((relation, index) => ({ relation, index, item, place })),
  );
  const names = wanted.flatMap(({ relation, item }) => [item.externalId, relation.externalId]);
  const [rows] = wanted.length === 0 ? [[]] : await pipeline(trx, [lockNamed(workspaceId, names)]);
  const incidents = new Map(rows.map((row) => [row.externalId, row]));
  const changes = new Map<number, Change[]>();
  const places = new Set<number>();
  for (const { relation, index, item, place } of wanted) {
    const result = results[place];
    const incident = incidents.get(item.externalId);
    if (incident === undefined || result === undefined || result.outcome === 'refused') continue;
    try {
      const other = incidents.get(relation.externalId);
      if (other === undefined) throw invalidRequest('external', 'There is no such incident');
      if (!(await relate(trx, { workspaceId, incident, other, relation }))) continue;
      places.add(place);
      const sides: [NamedIncident, RelationType, NamedIncident][] = [
        [incident, relation.type, other],
        [other, inverseOf(relation.type), incident],
      ];
      for (const [incident, type, to] of sides) {
        if (mayName(incident, to))
          changes.set(incident.id, [...(changes.get(incident.id) ?? []), changeOf(type, to, 'added')]);
      }
    } catch (error) {
      if (!isRefusal(error)) throw error;
      (result.notes ??= []).push({ field: `relations.${index}`, message: error.message });
    }
  }
  return { changes, places };
}

/** Returns whether the relation is new. @throws DomainError why it is left out */
async function relate(
  trx: Knex.Transaction,
  {
    workspaceId,
    incident,
    other,
    relation,
  }: { workspaceId: number; incident: NamedIncident; other: NamedIncident; relation: PreparedRelation },
): Promise<boolean> {
  const { type: seen, createdAt, createdBy } = relation;
  const isGiven = (GIVEN_TYPES as readonly string[]).includes(seen);
  const type = (isGiven ? seen : inverseOf(seen)) as GivenType;
  const [from, to] = isGiven ? [incident, other] : [other, incident];
  const relations = relationStore(trx, { workspaceId, id: from.id });
  if ((await relations.find(type, to.id)) !== undefined) return false;
  if (!incident.isImported || !other.isImported) throw invalidRequest('external', 'No import made both incidents');
  if (type === 'duplicate_of' && !mayName(from, to)) {
    throw invalidRequest('external', 'Must not be restricted unless the duplicate is');
  }
  if (type === 'duplicate_of') checkNoCircle(await relations.walk(to.id));
  const pair = { incidentId: from.id, type, relatedId: to.id };
  const [next] = await query(trx, nextRelation(workspaceId, pair));
  const { id, ...counts } = next as { id: number; ofType: number; ofInverse: number };
  checkRoom(type, counts);
  await query(trx, insertRelation(workspaceId, pair, { id, createdAt, createdBy, createdByKey: null }));
  return true;
}
