import type { Key } from '@tocsin/http';
import type { Listed } from '@tocsin/resources';
import { INCIDENT_VERSION_COLUMNS, type IncidentVersion } from '../../incidents/store/incident-row.ts';
import type { KeysetPosition, SortSegment } from './segments.ts';
import { Sql, sql } from '../../shared/store/sql.ts';

/** The position of an incident in a segment, as columns. */
export interface PositionColumns {
  tie: number;
  key_0?: Key;
  key_1?: Key;
}

export type PositionedRow = Listed<IncidentVersion> & PositionColumns;

/** The columns of incidents `i`. */
export const COLUMNS = new Sql(INCIDENT_VERSION_COLUMNS, []);

const POSITION_COLUMNS = [sql`tie`, sql`tie, key_0`, sql`tie, key_0, key_1`];

export const positionColumns = ({ keys }: SortSegment): Sql => POSITION_COLUMNS[keys.length] ?? sql`tie`;

export function positionOf({ tie, key_0, key_1 }: PositionColumns, segment: SortSegment): KeysetPosition {
  const columns = [key_0, key_1].slice(0, segment.keys.length) as Key[];
  return { segment: segment.name, keys: segment.keysOf(columns), tie };
}
