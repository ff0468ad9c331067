import { type Column, type ColumnsOf, listedColumns, rowMapping } from '@tocsin/versioned-resources';
import { fold, foldedKey } from '@tocsin/schemas';
import type { Incident } from '../domain/incident.ts';
import { USER_ID } from '../domain/property-kinds.ts';
import { STORED } from '../domain/property-sets.ts';

/** The columns of `incidents` that hold an incident. */
export const INCIDENT_TABLE = Object.fromEntries(
  STORED.map(({ property, name, column = name, type = 'text' }): [string, Column] => [
    property,
    { name: column, type },
  ]),
) as ColumnsOf<Incident>;

const mapping = rowMapping<Incident, ColumnsOf<Incident>>(INCIDENT_TABLE);

/** A select list whose rows are incidents. */
export const INCIDENT_SELECTION = mapping.selection;

/** The condition of the index by number. */
export const HAS_NUMBER = 'number > 0';

/** A state of an incident. Not every change raises the revision (ADR 10), but each has another transaction. */
export interface IncidentVersion extends Pick<Incident, 'id' | 'revision' | 'restricted'> {
  /** The transaction that wrote the row. */
  xmin: string;
}

const VERSION_PROPERTIES = ['id', 'revision', 'restricted'] as const;

/** What `INCIDENT_VERSION_COLUMNS` reads. */
export const READ_VERSION_COLUMNS = ['xmin', ...VERSION_PROPERTIES, 'custom_fields'] as const;

/** The select list of lists, from incidents `i`: the version of each and, if it is large, its weight. */
export const INCIDENT_VERSION_COLUMNS = `i.xmin, ${listedColumns<(typeof VERSION_PROPERTIES)[number] | 'custom_fields'>(
  {
    table: 'i',
    names: VERSION_PROPERTIES,
    as: mapping.propertyOf,
    large: { custom_fields: 'jsonb' },
  },
)}`;

/** Bindable values of some properties, and of the folded texts that lists compare instead of them, by column. */
export const toColumns = (
  properties: Partial<Incident> & Pick<Incident, 'workspaceId'>,
): Partial<Record<string, unknown>> => ({
  ...mapping.toRow(properties),
  ...toListColumns(properties),
});

/** The columns of `incidents` with folded text, by which lists filter and sort. */
export const LIST_COLUMNS = [
  'title_folded',
  'impact_summary_folded',
  'service_folded',
  'region_folded',
  'region_keys',
  'role_keys',
] as const;

export type ListColumn = (typeof LIST_COLUMNS)[number];

/** A region as stored in `region_keys`. */
export const regionKey = (workspaceId: number, folded: string) => `${workspaceId} ${folded}`;

/** A role with a holder, or with one of them (`scribe:7`), as stored in `role_keys`. */
export const roleKey = (workspaceId: number, named: string) => `${workspaceId} ${named}`;

/** The columns that change with these properties. An absent property changes none. */
export function toListColumns({
  workspaceId,
  title,
  impactSummary,
  service,
  regions,
  roles,
}: Partial<Incident> & Pick<Incident, 'workspaceId'>): Partial<Record<ListColumn, string | string[] | null>> {
  return {
    ...(title !== undefined && { title_folded: fold(title) }),
    ...(impactSummary !== undefined && { impact_summary_folded: fold(impactSummary) }),
    ...(service !== undefined && { service_folded: foldedKey(service) || null }),
    ...(regions !== undefined && {
      region_folded: foldedKey(regions[0] ?? '') || null,
      region_keys: regions.map((region) => regionKey(workspaceId, foldedKey(region))),
    }),
    ...(roles !== undefined && {
      role_keys: Object.entries(roles).flatMap(([key, people]) =>
        [key, ...people.filter((person) => USER_ID.test(person)).map((id) => `${key}:${id}`)].map((named) =>
          roleKey(workspaceId, named),
        ),
      ),
    }),
  };
}
