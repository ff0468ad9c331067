import type { FieldType } from '@tocsin/schemas';
import type { CustomPredicate, Money, Operand } from '../domain/custom-filter.ts';
import { containsText } from '../../shared/store/contains-text.ts';
import { beginning, optionKey } from '../../values/store/value-row.ts';
import type { IncidentQuery } from './query.ts';
import { join, type Sql, sql } from '../../shared/store/sql.ts';

/** The indexed part of a text. Operands are cut to the same length before they are compared with it. */
export const INDEXED_TEXT = sql`left(v.text_folded, 128)`;

/**
 * The predicates on one field that become one subquery: either all positive ones or all negated ones. An incident
 * without a value meets every negated predicate.
 */
interface PredicateGroup {
  fieldId: number;
  fieldType: FieldType;
  isNegated: boolean;
  predicates: CustomPredicate[];
}

/** The filters by custom fields as conditions on incidents `i`, each of which looks up one value of the incident at hand. */
export const customLookups = ({ workspaceId, custom }: Pick<IncidentQuery, 'workspaceId' | 'custom'>): Sql[] =>
  groupByField(custom).map((group) => lookupCondition(workspaceId, group));

/** For each field with positive filters, a search for the incidents that meet them: rows of `incident_id`. */
export const customSearches = ({ workspaceId, custom }: Pick<IncidentQuery, 'workspaceId' | 'custom'>): Sql[] =>
  groupByField(custom)
    .filter(({ isNegated }) => !isNegated)
    .map((group) => sql`select v.incident_id from incident_values as v where ${ofField(workspaceId, group)}`);

export const isNegated = ({ operator, operands: [operand] }: CustomPredicate) =>
  operator === 'is_not' || operator === 'excludes' || (operator === 'has_value' && operand === false);

/** An incident has at most one value of a field, so one lookup per field is enough. Positive groups come first. */
function groupByField(predicates: readonly CustomPredicate[]): PredicateGroup[] {
  const groups = new Map<string, PredicateGroup>();
  for (const predicate of predicates) {
    const { fieldId, fieldType } = predicate;
    const key = `${fieldId} ${isNegated(predicate)}`;
    const group = groups.get(key) ?? { fieldId, fieldType, isNegated: isNegated(predicate), predicates: [] };
    group.predicates.push(predicate);
    groups.set(key, group);
  }
  return [...groups.values()].sort((a, b) => Number(a.isNegated) - Number(b.isNegated));
}

/** The values `v` that meet the filters by one field. Each condition on null is that of an index. */
function ofField(workspaceId: number, group: PredicateGroup): Sql {
  const isOptions = group.fieldType === 'multi_select';
  // Option keys contain the field's ID already; a second condition on it makes Postgres underestimate the rows.
  const isOfWorkspace = sql`v.workspace_id = ${workspaceId}`;
  if (isOptions && group.predicates.every(isIndexed))
    return sql`${isOfWorkspace} and v.options is not null and ${groupCondition(group)}`;
  const isPresent = isOptions ? sql`v.text_folded is not null and` : sql``;
  return sql`${isOfWorkspace} and v.field_id = ${group.fieldId} and ${isPresent} ${groupCondition(group)}`;
}

/**
 * The value `v` of the incident `i` at hand. It is looked up by the primary key, whatever Postgres knows of the rows: `offset
 * 0` keeps all conditions out, without which no other index serves.
 */
export const valueOf = (workspaceId: number, fieldId: number): Sql => sql`(
  select text_folded, number_value, currency, boolean_value, date_value, time_value, moment_value, option_keys
  from incident_values where workspace_id = ${workspaceId} and incident_id = i.id and field_id = ${fieldId} offset 0) as v`;

/** A scalar subquery, which Postgres evaluates for one incident at a time and never turns into a join. */
function lookupCondition(workspaceId: number, group: PredicateGroup): Sql {
  const value = sql`coalesce((
    select true from ${valueOf(workspaceId, group.fieldId)} where ${groupCondition(group)}), false)`;
  return group.isNegated ? sql`not ${value}` : value;
}

const groupCondition = ({ isNegated, predicates }: PredicateGroup): Sql =>
  isNegated ? sql`(${join(predicates.map(valueCondition), ' or ')})` : join(predicates.map(valueCondition), ' and ');

/** Whether the value `v` matches the operands; for a negated predicate, whether it is one of the excluded values. */
function valueCondition(predicate: CustomPredicate): Sql {
  const { fieldType, operands } = predicate;
  if (predicate.operator === 'has_value')
    return sql`${PRESENT_COLUMNS[fieldType as Exclude<FieldType, 'json'>]} is not null`;
  switch (fieldType) {
    case 'string':
    case 'select':
      return textCondition(predicate, operands as string[]);
    case 'boolean':
      return sql`v.boolean_value = any(${operands as boolean[]})`;
    case 'multi_select':
      return optionsCondition(predicate, operands as string[]);
    case 'monetary': {
      const [money] = operands as Money[];
      const amounts = (operands as Money[]).map(({ amount }) => amount);
      return sql`v.currency = ${money?.currency ?? null} and ${orderCondition(predicate, amounts)}`;
    }
    default:
      return orderCondition(predicate, operands);
  }
}

function textCondition({ operator }: CustomPredicate, texts: readonly string[]): Sql {
  const [text = ''] = texts;
  switch (operator) {
    case 'contains':
      return text === '' ? sql`v.text_folded is not null` : containsText(sql`v.text_folded`, text);
    case 'starts_with':
      return both(
        sql`starts_with(${INDEXED_TEXT}, ${beginning(text)})`,
        beginning(text) === text ? undefined : sql`left(v.text_folded, ${[...text].length}::integer) = ${text}`,
      );
    default:
      return both(
        sql`${INDEXED_TEXT} = any(${texts.map(beginning)})`,
        texts.every(isShorterThanIndexed) ? undefined : isOneOf(texts),
      );
  }
}

/** Reads no more of a text than one character beyond the longest of the others. */
function isOneOf(texts: readonly string[]): Sql {
  const longest = Math.max(...texts.map((text) => [...text].length));
  return sql`left(v.text_folded, ${longest + 1}::integer) = any(${texts})`;
}

/** A condition on the indexed beginning, and one on the whole text where the first does not imply it. */
const both = (onBeginning: Sql, onWhole: Sql | undefined): Sql =>
  onWhole === undefined ? onBeginning : sql`${onBeginning} and ${onWhole}`;

/** Whether a text is shorter than the indexed part: then an equal beginning means an equal text. */
const isShorterThanIndexed = (text: string) => beginning(`${text} `) !== beginning(text);

function optionsCondition({ fieldId, operator }: CustomPredicate, options: readonly string[]): Sql {
  const keys = options.map((option) => optionKey(fieldId, option));
  return operator === 'includes_all' ? hasAll(sql`v.option_keys`, keys) : hasAny(sql`v.option_keys`, keys);
}

/**
 * The operators of arrays, which the index serves, compare each element of one array with each of the other. Beyond this
 * number, each element is looked up among all others.
 */
const MAX_INDEXED_OPTIONS = 16;

const isIndexed = ({ operator, operands }: CustomPredicate) =>
  operator !== 'has_value' && operands.length <= MAX_INDEXED_OPTIONS;

const hasAny = (array: Sql, elements: readonly string[]): Sql =>
  elements.length <= MAX_INDEXED_OPTIONS
    ? sql`${array} && ${elements}`
    : sql`exists (select 1 from unnest(${array}) as element where element = any(${elements}))`;

const hasAll = (array: Sql, elements: readonly string[]): Sql =>
  elements.length <= MAX_INDEXED_OPTIONS
    ? sql`${array} @> ${elements}`
    : sql`(
        select count(distinct element) from unnest(${array}) as element where element = any(${elements})
      ) = ${new Set(elements).size}`;

/** For each type, the column that its values fill, which is that of an index. A list without options is no value. */
const PRESENT_COLUMNS: Readonly<Record<Exclude<FieldType, 'json'>, Sql>> = {
  string: sql`v.text_folded`,
  select: sql`v.text_folded`,
  multi_select: sql`v.text_folded`,
  boolean: sql`v.boolean_value`,
  number: sql`v.number_value`,
  monetary: sql`v.currency`,
  date: sql`v.date_value`,
  time: sql`v.time_value`,
  datetime: sql`v.moment_value`,
};

/** For each type whose values have an order, the column with the value and the SQL type of an operand. */
const ORDERED_COLUMNS: Partial<Record<FieldType, { column: Sql; type: Sql }>> = {
  number: { column: sql`v.number_value`, type: sql`numeric` },
  monetary: { column: sql`v.number_value`, type: sql`numeric` },
  date: { column: sql`v.date_value`, type: sql`date` },
  time: { column: sql`v.time_value`, type: sql`time` },
  datetime: { column: sql`v.moment_value`, type: sql`timestamptz` },
};

const SQL_OPERATORS: Partial<Record<CustomPredicate['operator'], Sql>> = {
  gt: sql`>`,
  after: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  before: sql`<`,
  lte: sql`<=`,
};

function orderCondition({ fieldType, operator }: CustomPredicate, operands: readonly Operand[]): Sql {
  const ordered = ORDERED_COLUMNS[fieldType];
  if (ordered === undefined) throw new Error(`values of type ${fieldType} have no order`);
  const { column, type } = ordered;
  const [low, high] = operands.map((operand) => sql`${operand as string | number}::${type}`);
  if (low === undefined) throw new Error(`the operator ${operator} has no operand`);
  if (operator === 'between' && high !== undefined) return sql`${column} >= ${low} and ${column} <= ${high}`;
  const sqlOperator = SQL_OPERATORS[operator];
  if (sqlOperator !== undefined) return sql`${column} ${sqlOperator} ${low}`;
  return sql`${column} in (${join(
    operands.map((operand) => sql`${operand as string | number}::${type}`),
    ', ',
  )})`;
}
