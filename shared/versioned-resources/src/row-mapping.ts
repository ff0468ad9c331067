export type SqlType = 'bigint' | 'boolean' | 'integer' | 'jsonb' | 'numeric' | 'text' | 'text[]' | 'timestamptz';

/** A column of a table and the SQL type of its values. */
export interface Column<Name extends string = string> {
  name: Name;
  type: SqlType;
}

export const column = <Name extends string>(name: Name, type: SqlType): Column<Name> => ({ name, type });

/** The column of each property of a record. */
export type ColumnsOf<Entity> = Record<keyof Entity, Column>;

/** The row that the columns of a record hold. */
export type RowOf<Entity, Columns extends ColumnsOf<Entity>> = {
  [Property in keyof Entity as Columns[Property]['name']]: Entity[Property];
};

/** Some properties of a record by the names of their columns, as a validated request has them. */
export type WireOf<Entity, Columns extends ColumnsOf<Entity>> = {
  [Property in keyof Entity as Columns[Property]['name']]?: Entity[Property] | undefined;
};

/** Composes `insert into … values` of one row with these columns, and its values. */
export function insertOf(table: string, row: Readonly<Record<string, unknown>>): { text: string; values: unknown[] } {
  const names = Object.keys(row);
  const parameters = names.map((_, index) => `$${index + 1}`);
  return {
    text: `insert into ${table} (${names.join(', ')}) values (${parameters.join(', ')})`,
    values: Object.values(row),
  };
}

/** Composes the assignments of an `update` of these columns, whose first parameter has this number. */
export const assignmentsOf = (row: Readonly<Record<string, unknown>>, first: number): string =>
  Object.keys(row)
    .map((name, index) => `${name} = $${first + index}`)
    .join(', ');

/** Maps rows to records and back. A loop takes about a microsecond a row, which is little next to reading the row. */
export function rowMapping<Entity, Columns extends ColumnsOf<Entity>>(columns: Columns) {
  type Name = Columns[keyof Entity]['name'];
  const mapped = (Object.entries(columns) as [keyof Entity, Column<Name>][]).map(([property, { name, type }]) => ({
    property,
    name,
    type,
  }));
  return {
    names: mapped.map(({ name }) => name),

    /** A select list with the names of the properties: its rows are records, and nothing has to be copied. */
    selection: mapped.map(({ property, name }) => `${name} as "${String(property)}"`).join(', '),

    /** The same with qualified names, for a statement of several tables. */
    selectionOf: (table: string): string =>
      mapped.map(({ property, name }) => `${table}.${name} as "${String(property)}"`).join(', '),

    /** The property of a column. */
    propertyOf: new Map<string, string>(mapped.map(({ property, name }) => [name, String(property)])),

    /** Reads only the columns of the record; the row may have more. */
    toEntity: (row: RowOf<Entity, Columns>): Entity => {
      const entity: Partial<Record<keyof Entity, unknown>> = {};
      const values = row as typeof row & Readonly<Record<Name, unknown>>;
      for (const { property, name } of mapped) entity[property] = values[name];
      return entity as Entity;
    },

    /** The record in a response: by the names of its columns, without what has no value. */
    toWire: (entity: Entity): Record<string, unknown> =>
      Object.fromEntries(
        mapped
          .filter(({ property }) => entity[property] !== null)
          .map(({ property, name }) => [name === 'workspace_id' ? 'company_id' : name, entity[property]]),
      ),

    /** The properties that a row with some of the columns, or a request with their names, has. */
    toProperties: (row: Readonly<Partial<Record<Name, unknown>>>): Partial<Entity> =>
      Object.fromEntries(
        mapped.filter(({ name }) => row[name] !== undefined).map(({ property, name }) => [property, row[name]]),
      ) as Partial<Entity>,

    /** Bindable values of the properties that are given, by column. */
    toRow: (properties: {
      [Property in keyof Entity]?: Entity[Property] | undefined;
    }): Partial<Record<Name, unknown>> => {
      const row: Partial<Record<Name, unknown>> = {};
      for (const { property, name, type } of mapped) {
        const value = properties[property];
        if (value === undefined) continue;
        row[name] = type === 'jsonb' && value !== null ? JSON.stringify(value) : value;
      }
      return row;
    },
  };
}
