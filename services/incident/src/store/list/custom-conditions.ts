import type { FieldType } from '@tocsin/contracts';
import type { CustomPredicate, Money, Operand } from '../../domain/custom-filter.ts';
import { beginning, optionKey } from '../value-row.ts';
import type { ListQuestion } from './question.ts';
import { join, type Sql, sql } from './sql.ts';

/** A text's part that is indexed; whatever is compared with it is cut the same way. */
export const INDEXED_TEXT = sql`left(v.text_folded, 128)`;

/**
 * All conditions on one field that are about the value there is, or all that rule values out; incidents without a value meet
 * these.
 */
interface Group {
  fieldId: number;
  fieldType: FieldType;
  rulesOut: boolean;
  predicates: CustomPredicate[];
}

/** How many conditions Postgres may weigh against each other: with every one more, planning takes several times as long. */
const WEIGHED = 4;

/** What the filters by custom fields ask of incidents `i`, of which they need the ID alone. */
export const customConditions = ({ workspaceId, custom }: ListQuestion): Sql[] =>
  groupsOf(custom).map((group, index) => (index < WEIGHED ? joined(workspaceId, group) : probed(group)));

/** The same, to be asked of one incident after the other. */
export const customProbes = ({ custom }: ListQuestion): Sql[] => groupsOf(custom).map(probed);

/** An incident has at most one value of a field, so one look at it is enough. Those that leave most out come first. */
function groupsOf(predicates: readonly CustomPredicate[]): Group[] {
  const groups = new Map<string, Group>();
  for (const predicate of predicates) {
    const { fieldId, fieldType, operator } = predicate;
    const rulesOut = operator === 'is_not' || operator === 'excludes';
    const group = groups.get(`${fieldId} ${rulesOut}`) ?? { fieldId, fieldType, rulesOut, predicates: [] };
    group.predicates.push(predicate);
    groups.set(`${fieldId} ${rulesOut}`, group);
  }
  return [...groups.values()].sort((a, b) => Number(a.rulesOut) - Number(b.rulesOut));
}

/** Postgres chooses whether to look for values or for incidents first. */
function joined(workspaceId: number, group: Group): Sql {
  // The keys of options are of one field already; to say it twice makes Postgres think that there are fewer.
  const ofField =
    group.fieldType === 'multi_select'
      ? sql``
      : sql`v.workspace_id = ${workspaceId} and v.field_id = ${group.fieldId} and`;
  const value = sql`exists (select 1 from incident_values as v where ${ofField} v.incident_id = i.id and ${metBy(group)})`;
  return group.rulesOut ? sql`not ${value}` : value;
}

function probed(group: Group): Sql {
  const value = sql`coalesce((
    select true from incident_values as v
    where v.incident_id = i.id and v.field_id = ${group.fieldId} and ${metBy(group)}), false)`;
  return group.rulesOut ? sql`not ${value}` : value;
}

const metBy = ({ rulesOut, predicates }: Group): Sql =>
  rulesOut ? sql`(${join(predicates.map(met), ' or ')})` : join(predicates.map(met), ' and ');

/** Whether the value `v` is what the condition names; of a negative one, what it rules out. */
function met(predicate: CustomPredicate): Sql {
  const { fieldType, operands } = predicate;
  switch (fieldType) {
    case 'string':
    case 'select':
      return metByText(predicate, operands as string[]);
    case 'boolean':
      return sql`v.boolean_value = any(${operands as boolean[]})`;
    case 'multi_select':
      return metByOptions(predicate, operands as string[]);
    case 'monetary': {
      const [money] = operands as Money[];
      const amounts = (operands as Money[]).map(({ amount }) => amount);
      return sql`v.currency = ${money?.currency ?? null} and ${metByOrder(predicate, amounts)}`;
    }
    default:
      return metByOrder(predicate, operands);
  }
}

function metByText({ operator }: CustomPredicate, texts: readonly string[]): Sql {
  const [text = ''] = texts;
  switch (operator) {
    case 'contains':
      return sql`strpos(v.text_folded, ${text}) > 0`;
    case 'starts_with':
      return both(
        sql`starts_with(${INDEXED_TEXT}, ${beginning(text)})`,
        beginning(text) === text ? undefined : sql`starts_with(v.text_folded, ${text})`,
      );
    default:
      return both(
        sql`${INDEXED_TEXT} = any(${texts.map(beginning)})`,
        texts.every(isWhole) ? undefined : sql`v.text_folded = any(${texts})`,
      );
  }
}

/** A condition on the beginning of a text, and one on all of it where that is not the same. */
const both = (onBeginning: Sql, onAll: Sql | undefined): Sql =>
  onAll === undefined ? onBeginning : sql`${onBeginning} and ${onAll}`;

/** A text of which the index holds all, and not as much as it can hold: then nothing else begins so. */
const isWhole = (text: string) => beginning(`${text} `) !== beginning(text);

function metByOptions({ fieldId, operator }: CustomPredicate, options: readonly string[]): Sql {
  const keys = options.map((option) => optionKey(fieldId, option));
  const exact = options.every(isWhole);
  return operator === 'includes_all'
    ? both(sql`v.option_keys @> ${keys}`, exact ? undefined : sql`v.options @> ${options}`)
    : both(sql`v.option_keys && ${keys}`, exact ? undefined : sql`v.options && ${options}`);
}

/** The columns of types whose values have an order, and how an operand is read. */
const ORDERED: Partial<Record<FieldType, { column: Sql; type: Sql }>> = {
  number: { column: sql`v.number_value`, type: sql`numeric` },
  monetary: { column: sql`v.number_value`, type: sql`numeric` },
  date: { column: sql`v.date_value`, type: sql`date` },
  time: { column: sql`v.time_value`, type: sql`time` },
  datetime: { column: sql`v.moment_value`, type: sql`timestamptz` },
};

const SIGNS: Partial<Record<CustomPredicate['operator'], Sql>> = {
  gt: sql`>`,
  after: sql`>`,
  gte: sql`>=`,
  lt: sql`<`,
  before: sql`<`,
  lte: sql`<=`,
};

function metByOrder({ fieldType, operator }: CustomPredicate, operands: readonly Operand[]): Sql {
  const ordered = ORDERED[fieldType];
  if (ordered === undefined) throw new Error(`values of ${fieldType} have no order`);
  const { column, type } = ordered;
  const [low, high] = operands.map((operand) => sql`${operand as string | number}::${type}`);
  if (low === undefined) throw new Error(`${operator} compares with nothing`);
  if (operator === 'between' && high !== undefined) return sql`${column} >= ${low} and ${column} <= ${high}`;
  const sign = SIGNS[operator];
  if (sign !== undefined) return sql`${column} ${sign} ${low}`;
  return sql`${column} in (${join(
    operands.map((operand) => sql`${operand as string | number}::${type}`),
    ', ',
  )})`;
}
