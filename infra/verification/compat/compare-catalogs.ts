import type { Catalog, CatalogTable } from './schema-catalog.ts';

type Column = CatalogTable['columns'][string];
type Parts = Record<string, { definition: string; columns: string[] }>;

/**
 * Returns the changes between two catalogs that processes of the earlier release may not survive, one sentence each:
 * everything of it must be there unchanged, and nothing new may restrict what it writes. Compatible are new tables, new
 * columns that may stay empty or have a default, indexes that are not unique, and constraints of new columns alone.
 */
export function contractions(before: Catalog, after: Catalog): string[] {
  const changes: string[] = [];
  for (const [name, table] of Object.entries(before.tables)) {
    const current = after.tables[name];
    if (current === undefined) changes.push(`table ${name} is dropped`);
    else changes.push(...tableChanges(name, table, current));
  }
  for (const [name, definition] of Object.entries(before.others)) {
    const current = after.others[name];
    if (current === undefined) changes.push(`${name} is dropped`);
    else if (current !== definition) changes.push(`${name} is changed`);
  }
  return changes;
}

function tableChanges(name: string, before: CatalogTable, after: CatalogTable): string[] {
  const added = Object.entries(after.columns).filter(([column]) => !(column in before.columns));
  const isNew = new Set(added.map(([column]) => column));
  /** In rows that the earlier release writes, these columns are null. */
  const isNull = new Set(
    added.filter(([, { nullable, default: value }]) => nullable && value === undefined).map(([column]) => column),
  );
  return [
    ...Object.entries(before.columns).flatMap(([column, definition]) =>
      columnChanges(`column ${name}.${column}`, definition, after.columns[column]),
    ),
    ...added
      .filter(([, { nullable, default: value }]) => nullable !== true && value === undefined)
      .map(([column]) => `column ${name}.${column} is new and has neither a default nor may it be null`),
    ...partChanges(`constraint %s of ${name}`, before.constraints, after.constraints, (definition, columns) => {
      if (/^UNIQUE|^PRIMARY KEY|^EXCLUDE/.test(definition))
        return allowsNulls(definition) && columns.some((column) => isNull.has(column));
      return columns.length > 0 && columns.every((column) => isNew.has(column));
    }),
    ...partChanges(`index %s of ${name}`, before.indexes, after.indexes, (definition, columns) =>
      definition.startsWith('CREATE UNIQUE')
        ? allowsNulls(definition) && columns.some((column) => isNull.has(column))
        : true,
    ),
    ...partChanges(
      `trigger %s of ${name}`,
      withoutColumns(before.triggers),
      withoutColumns(after.triggers),
      () => false,
    ),
  ];
}

const allowsNulls = (definition: string) => !definition.includes('NULLS NOT DISTINCT');

const withoutColumns = (definitions: CatalogTable['triggers'] = {}): Parts =>
  Object.fromEntries(Object.entries(definitions).map(([name, definition]) => [name, { definition, columns: [] }]));

function columnChanges(name: string, before: Column, after: Column | undefined): string[] {
  if (after === undefined) return [`${name} is dropped`];
  const changes: string[] = [];
  if (before.type !== after.type) changes.push(`${name} had the type ${before.type}, now ${after.type}`);
  if (before.nullable === true && after.nullable !== true) changes.push(`${name} must not be null any more`);
  if (before.nullable !== true && after.nullable === true) changes.push(`${name} may now be null`);
  if (before.default !== after.default) {
    changes.push(`${name} had the default ${before.default ?? 'null'}, now ${after.default ?? 'null'}`);
  }
  return changes;
}

/** @param isHarmless whether a new part restricts nothing that the earlier release writes */
function partChanges(
  pattern: string,
  before: Parts = {},
  after: Parts = {},
  isHarmless: (definition: string, columns: string[]) => boolean,
): string[] {
  const nameOf = (key: string) => pattern.replace('%s', key);
  const changes: string[] = [];
  for (const [key, { definition }] of Object.entries(before)) {
    const current = after[key];
    if (current === undefined) changes.push(`${nameOf(key)} is dropped`);
    else if (current.definition !== definition) changes.push(`${nameOf(key)} is changed`);
  }
  for (const [key, { definition, columns }] of Object.entries(after)) {
    if (!(key in before) && !isHarmless(definition, columns)) changes.push(`${nameOf(key)} is new: ${definition}`);
  }
  return changes;
}
