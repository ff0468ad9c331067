import { type CustomFieldDefinition, type FieldType, optionValues } from '@tocsin/contracts';
import { byCodePoints } from '../../domain/compare-text.ts';
import { fold } from '../../domain/fold.ts';
import type { Direction } from '../../domain/list-sort.ts';
import { beginning } from '../value-row.ts';
import { INDEXED_TEXT } from './custom-conditions.ts';
import { textsBetween } from './gaps.ts';
import { probed } from './probes.ts';
import type { ListQuestion } from './question.ts';
import { type Sql, sql } from './sql.ts';
import { ordered, type Source, type Step } from './steps.ts';

/** What a type's values go by, and whether there is such a value; an empty text is none. */
const ORDERS: Partial<Record<FieldType, { keys: readonly Sql[]; present: Sql }>> = {
  string: { keys: [INDEXED_TEXT], present: sql`v.text_folded <> ''` },
  select: { keys: [INDEXED_TEXT], present: sql`v.text_folded <> ''` },
  multi_select: { keys: [INDEXED_TEXT], present: sql`v.text_folded <> ''` },
  number: { keys: [sql`v.number_value`], present: sql`v.number_value is not null` },
  monetary: { keys: [sql`v.currency`, sql`v.number_value`], present: sql`v.currency is not null` },
  boolean: { keys: [sql`v.boolean_value`], present: sql`v.boolean_value is not null` },
  date: { keys: [sql`v.date_value`], present: sql`v.date_value is not null` },
  time: { keys: [sql`v.time_value`], present: sql`v.time_value is not null` },
  datetime: { keys: [sql`v.moment_value`], present: sql`v.moment_value is not null` },
};

/** Whether lists can be sorted by fields of a type. */
export const isSortable = (type: FieldType) => ORDERS[type] !== undefined;

/** By the values of a custom field; then the incidents without one. */
export function customSteps({ workspaceId }: ListQuestion, field: CustomFieldDefinition, direction: Direction): Step[] {
  const order = ORDERS[field.field_type];
  if (order === undefined) throw new Error(`values of ${field.field_type} have no order`);
  const { keys, present } = order;
  const ofField = sql`v.workspace_id = ${workspaceId} and v.field_id = ${field.id}`;
  const values = {
    from: sql`incident_values as v join incidents as i on i.id = v.incident_id`,
    where: [ofField, present],
    tie: sql`v.incident_id`,
  };
  const stretches =
    field.field_type === 'select' || field.field_type === 'multi_select'
      ? byOptions(field, direction, values)
      : [ordered(direction, keys, values)];
  const missing = sql`not exists (
    select 1 from incident_values as v where ${ofField} and v.incident_id = i.id and ${present})`;
  return [...stretches, ordered(direction, [], { where: [missing], tie: sql`i.number` })];
}

/** In ascending order first the options, as they stand in the definition, then what is none of them, as text. */
function byOptions({ config = {} }: CustomFieldDefinition, direction: Direction, values: Required<Source>): Step[] {
  const options = [...new Set(optionValues(config).map((option) => beginning(fold(option))))].filter(
    (option) => option !== '',
  );
  const keys = direction === 'asc' ? options : options.toReversed();
  const stretches = [
    probed(direction, keys, [
      {
        ...values,
        type: 'text',
        probes: keys.map((key) => ({ key, value: key })),
        match: sql`${INDEXED_TEXT} = probe.value`,
      },
    ]),
    textsBetween(options.toSorted(byCodePoints), direction, values),
  ];
  return direction === 'asc' ? stretches : stretches.toReversed();
}
