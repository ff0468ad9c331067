import type { FieldType } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { upsertRows } from '../../shared/store/sql.ts';
import type { FieldValue } from '../domain/values.ts';
import { limitGrams, toRecords, VALUE_COLUMNS, type ValueRecord } from './value-row.ts';

/** A value of an incident. */
export interface StoredValue {
  fieldId: number;
  slug: string;
  fieldType: FieldType;
  value: unknown;
  updatedAt: Instant;
  updatedBy: string;
}

const VALUE_KEY = ['workspace_id', 'incident_id'];

/** New values of an incident that this transaction has locked; null removes one. */
interface ChangedValues {
  incidentId: number;
  values: readonly FieldValue[];
  at: Instant;
  by: string;
}

/** The statements that write the values of incidents of a workspace. */
export function valueStatements(workspaceId: number, changed: readonly ChangedValues[]): Statement[] {
  const set = changed.flatMap(({ incidentId, values, at, by }) => {
    const records = toRecords(
      values.filter(({ value }) => value !== null),
      { at, by },
    );
    return records.map((record) => ({ ...record, workspace_id: workspaceId, incident_id: incidentId }));
  });
  limitGrams(set);
  const removed = changed.flatMap(({ incidentId, values }) =>
    values.flatMap(({ field, value }) => (value === null ? [{ incidentId, fieldId: field.id }] : [])),
  );
  return [
    ...(set.length > 0 ? [putValues(set)] : []),
    ...(removed.length > 0 ? [removeValues(workspaceId, removed)] : []),
  ];
}

const putValues = (records: readonly ValueRecord[]): Statement => ({
  name: 'put-values',
  text: upsertRows('incident_values', {
    columns: [...VALUE_KEY, ...VALUE_COLUMNS],
    key: 'workspace_id, incident_id, field_id',
  }),
  values: [JSON.stringify(records)],
});

const removeValues = (workspaceId: number, values: readonly { incidentId: number; fieldId: number }[]): Statement => ({
  name: 'remove-values',
  text: `delete from incident_values
    using unnest((select $2::bigint[]), (select $3::bigint[])) as removed (incident_id, field_id)
    where incident_values.workspace_id = $1 and incident_values.incident_id = removed.incident_id and incident_values.field_id = removed.field_id`,
  values: [workspaceId, values.map(({ incidentId }) => incidentId), values.map(({ fieldId }) => fieldId)],
});

/** Selects the values of an incident in no particular order. */
export const selectValues = (workspaceId: number, incidentId: number): Statement<StoredValue> => ({
  name: 'list-values',
  text: `select field_id as "fieldId", slug, field_type as "fieldType", value, updated_at as "updatedAt",
      updated_by as "updatedBy"
    from incident_values where workspace_id = $1 and incident_id = $2`,
  values: [workspaceId, incidentId],
});

export async function listValues(db: Knex, workspaceId: number, incidentId: number): Promise<StoredValue[]> {
  const values = await query(db, selectValues(workspaceId, incidentId));
  return values;
}
