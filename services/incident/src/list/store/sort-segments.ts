import type { KeyType } from '@tocsin/http';
import type { SqlType } from '@tocsin/versioned-resources';
import { SORTED, type SortName } from '../../incidents/domain/property-sets.ts';
import { byCodePoints } from '../../shared/domain/compare-text.ts';
import type { Direction, ListSort } from '../domain/list-sort.ts';
import type { Catalog, TeamsOfName } from '../../replicas/store/catalog.ts';
import { customFieldSegments } from './custom-sort.ts';
import { ofServices } from './filters.ts';
import type { IncidentQuery } from './query.ts';
import {
  keyLookupSegment,
  keysetSegment,
  manyKeysSegment,
  numberSegment,
  type SortKey,
  type SortSegment,
} from './segments.ts';
import { Sql, sql } from '../../shared/store/sql.ts';

/** The segments of a list's sort order, in the order of the list. */
export function sortSegments(query: IncidentQuery): SortSegment[] {
  const { archived, sort, sortField } = query;
  const { key, direction } = sort;
  if (archived) return keyed('archived_at', { type: 'timestamp', value: sql`i.archived_at` }, direction);
  if (sortField !== null) return customFieldSegments(query, sortField);
  if (key === 'custom') throw new Error('sort=custom has no field');
  return PROPERTY_SEGMENTS[key](query, direction);
}

type PropertySort = Exclude<ListSort['key'], 'custom'>;

type SegmentFactory = (query: IncidentQuery, direction: Direction) => SortSegment[];

const keyed = (name: string, sortKey: SortKey, direction: Direction): SortSegment[] => [
  keysetSegment({ name, direction, sortKeys: [sortKey] }),
];

/** Incidents without a value come last in both directions. */
const nullable = (name: string, sortKey: SortKey, direction: Direction): SortSegment[] => [
  keysetSegment({ name, direction, sortKeys: [sortKey], where: [sql`${sortKey.value} is not null`] }),
  keysetSegment({ name: `${name}:none`, direction, sortKeys: [], where: [sql`${sortKey.value} is null`] }),
];

/** The types of keys, by the types of columns. */
const KEY_TYPES: Partial<Record<SqlType, KeyType>> = { bigint: 'integer', timestamptz: 'timestamp' };

const TABLE_SEGMENTS = Object.fromEntries(
  SORTED.map(({ sort = '', name, column = name, type = 'text', schema }): [string, SegmentFactory] => {
    const sortKey = { type: KEY_TYPES[type] ?? 'text', value: new Sql(`i.${column}`, []) };
    const segmentsOf = schema.safeParse(null).success ? nullable : keyed;
    return [sort, (_query, direction) => segmentsOf(sort, sortKey, direction)];
  }),
) as Record<SortName, SegmentFactory>;

const PROPERTY_SEGMENTS: Readonly<Record<PropertySort, SegmentFactory>> = {
  ...TABLE_SEGMENTS,
  case: (_query, direction) => [numberSegment({ name: 'case', direction })],
  diagnosis: (_query, direction) => keyed('diagnosis', { type: 'integer', value: sql`i.diagnosis` }, direction),
  impact: (_query, direction) => nullable('impact', { type: 'integer', value: sql`i.affected_customers` }, direction),
  service: (_query, direction) => nullable('service', { type: 'text', value: sql`i.service_folded` }, direction),
  regions: (_query, direction) => nullable('regions', { type: 'text', value: sql`i.region_folded` }, direction),
  owner: (_query, direction) => nullable('owner', { type: 'text', value: sql`i.owner_folded` }, direction),
  status: ({ configuration }, direction) =>
    configured('status', { column: sql`i.status`, entries: configuration.statuses, direction }),
  // The configuration starts with the most severe one, which comes last in ascending order.
  severity: ({ configuration }, direction) =>
    configured('severity', { column: sql`i.severity`, entries: configuration.severities.toReversed(), direction }),
  team: teamSegments,
};

interface ConfiguredOptions {
  column: Sql;
  /** In ascending order. */
  entries: readonly { key: string }[];
  direction: Direction;
}

function configured(name: string, { column, entries, direction }: ConfiguredOptions): SortSegment[] {
  const ascending = entries.map(({ key }) => key);
  const keys = direction === 'asc' ? ascending : ascending.toReversed();
  const values = keys.map((key) => ({ key, value: key }));
  return [
    keyLookupSegment({
      name,
      direction,
      keys,
      lookups: [{ type: 'text', values, match: sql`${column} = probe.value` }],
    }),
    // An older release could declare an incident with a key while the key was removed from the configuration.
    keysetSegment({ name: `${name}:removed`, direction, sortKeys: [], where: [sql`${column} <> all(${keys})`] }),
  ];
}

/** Sorts by the name of the effective team. Incidents without a known team come last. */
function teamSegments({ catalog }: IncidentQuery, direction: Direction): SortSegment[] {
  const { teamNames, teamsByName } = catalog;
  const names = direction === 'asc' ? teamNames : teamNames.toReversed();
  const none = (where: readonly Sql[]) => numberSegment({ name: 'team:none', direction, where });
  return [
    manyKeysSegment({
      keys: names,
      lookUp: (keys) => teamLookup(catalog, keys, direction),
      indexFrom: (name) => firstFrom(names, name, direction),
    }),
    {
      ...none([]),
      // Its condition names all teams and services, so only a page that gets here builds it.
      *partsFrom() {
        const teams = [...teamsByName.values()];
        const ids = teams.flatMap((each) => each.ids);
        const slugs = teams.flatMap((each) => each.slugs);
        yield none([sql`(i.team_id = any(${ids}) or (i.team_id is null and ${ofServices(slugs)})) is not true`]);
      },
    },
  ];
}

/** The index of a name or, if there is no such team any more, of the next one. */
function firstFrom(names: readonly string[], name: string, direction: Direction): number {
  const sign = direction === 'asc' ? 1 : -1;
  const index = names.findIndex((each) => byCodePoints(each, name) * sign >= 0);
  return index === -1 ? names.length : index;
}

function teamLookup({ teamsByName }: Catalog, keys: readonly string[], direction: Direction): SortSegment {
  const valuesOf = <Value>(of: (teams: TeamsOfName) => readonly Value[]) =>
    keys.flatMap((key) => of(teamsByName.get(key) ?? { ids: [], slugs: [] }).map((value) => ({ key, value })));
  return keyLookupSegment({
    name: 'team',
    direction,
    keys,
    lookups: [
      { type: 'bigint', values: valuesOf(({ ids }) => ids), match: sql`i.team_id = probe.value` },
      {
        type: 'text',
        values: valuesOf(({ slugs }) => slugs),
        match: sql`i.team_id is null and i.service_folded = probe.folded and i.service = probe.value`,
      },
    ],
  });
}
