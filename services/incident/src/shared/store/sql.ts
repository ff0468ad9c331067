import type { Statement } from '@tocsin/postgres';

type Scalar = string | number | boolean | null;
type Value = Scalar | readonly Scalar[];

/** A piece of SQL and its bound values: one for each `?` in the text. */
export class Sql {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[]) {
    this.text = text;
    this.values = values;
  }
}

/** Makes a piece of SQL. Interpolated pieces of SQL are inserted; every other value is bound and never becomes text. */
export function sql(strings: TemplateStringsArray, ...parts: readonly (Sql | Value)[]): Sql {
  let text = strings[0] ?? '';
  const values: Value[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Sql) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += '?';
      values.push(part);
    }
    text += strings[index + 1] ?? '';
  }
  return new Sql(text, values);
}

export function join(
  pieces: readonly Sql[],
  separator: ' ' | ', ' | ' and ' | ' or ' | ' union all ' | ' intersect ' | ' + ',
): Sql {
  return new Sql(
    pieces.map(({ text }) => text).join(separator),
    pieces.flatMap(({ values }) => values),
  );
}

/** All of the conditions; `true` for none. */
export const all = (conditions: readonly Sql[]) => (conditions.length === 0 ? sql`true` : join(conditions, ' and '));

/** A statement for `query` and `pipeline`. @param name without one, it is not prepared */
export const statementOf = <Row>({ text, values }: Sql, name?: string): Statement<Row> => ({
  ...(name !== undefined && { name, isComposed: true }),
  text: withNumbers(text),
  values,
});

/** Numbers the values, as the database expects: `$1` instead of the first `?`. */
function withNumbers(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => `$${(count += 1)}`);
}

/** Inserts the rows of a JSON parameter, which is the first. */
export const insertRows = (table: string, columns: readonly string[]) =>
  `insert into ${table} (${columns.join(', ')})
    select ${columns.join(', ')} from jsonb_populate_recordset(null::${table}, $1::jsonb)`;

/** As `insertRows`; writes the columns of rows that exist. */
export const upsertRows = (table: string, { columns, key }: { columns: readonly string[]; key: string }) =>
  `${insertRows(table, columns)}
    on conflict (${key}) do update set ${columns.map((name) => `${name} = excluded.${name}`).join(', ')}`;
