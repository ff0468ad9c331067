import type { FieldType } from '@tocsin/contracts';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { VALUE_COLUMNS, type ValueRecord, valueRows } from './value-row.ts';

/** A value of an incident. */
export interface StoredValue {
  fieldId: number;
  slug: string;
  fieldType: FieldType;
  value: unknown;
  updatedAt: Instant;
  updatedBy: string;
}

const COLUMNS = VALUE_COLUMNS.join(', ');
const PUT = `
  insert into incident_values (workspace_id, incident_id, ${COLUMNS})
  select ?, ?, ${COLUMNS} from ${valueRows('?')}
  on conflict (incident_id, field_id) do update set ${VALUE_COLUMNS.map((name) => `${name} = excluded.${name}`).join(', ')}`;

/** Stores the custom-field values of one workspace's incidents, over a pool or a transaction. */
export function valueStore(db: Knex, workspaceId: number) {
  const ofIncident = (incidentId: number) =>
    db('incident_values').where({ workspace_id: workspaceId, incident_id: incidentId });
  return {
    /** Returns the values in no particular order. */
    list: async (incidentId: number): Promise<StoredValue[]> =>
      ofIncident(incidentId).select<StoredValue[]>(
        'field_id as fieldId',
        'slug',
        'field_type as fieldType',
        'value',
        'updated_at as updatedAt',
        'updated_by as updatedBy',
      ),

    /** Inserts or replaces values of an incident that this transaction has locked. */
    async put(incidentId: number, records: readonly ValueRecord[]): Promise<void> {
      if (records.length > 0) await db.raw(PUT, [workspaceId, incidentId, JSON.stringify(records)]);
    },

    /** Deletes values of an incident that this transaction has locked. */
    async remove(incidentId: number, fieldIds: readonly number[]): Promise<void> {
      if (fieldIds.length > 0) await ofIncident(incidentId).whereIn('field_id', fieldIds).delete();
    },
  };
}
