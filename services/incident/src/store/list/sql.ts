import type { Knex } from '@tocsin/runtime';

type Scalar = string | number | boolean | null;
type Value = Scalar | readonly Scalar[];

/** A piece of SQL, its values apart from it: where a `?` stands in the text, a value is bound. */
export class Sql {
  readonly text: string;
  readonly values: readonly Value[];

  constructor(text: string, values: readonly Value[]) {
    this.text = text;
    this.values = values;
  }
}

/** A piece of SQL. What is put into it is bound, unless it is a piece of SQL itself: no value ever becomes text. */
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

export function join(pieces: readonly Sql[], separator: ' ' | ', ' | ' and ' | ' or ' | ' union all '): Sql {
  return new Sql(
    pieces.map(({ text }) => text).join(separator),
    pieces.flatMap(({ values }) => values),
  );
}

export const all = (conditions: readonly Sql[]) => (conditions.length === 0 ? sql`true` : join(conditions, ' and '));

export async function run<Row>(db: Knex, { text, values }: Sql): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(text, values as Knex.RawBinding[]);
  return rows;
}
