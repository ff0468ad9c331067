/**
 * What a schema keeps about persons is walked table by table, in the order of their keys, in steps: to show it, and to
 * erase a person. The caller has the position, so a step that is repeated, or lost with its process, does no harm. Each
 * page of a step is a transaction that locks only the rows that it changes.
 */
import {
  type DataPlace,
  type DataPosition,
  type DataStep,
  type ErasureStep,
  INTERNAL_PATHS,
  type PersonalDataRequest,
  personalDataRequest,
} from '@tocsin/schemas';
import { internalCommand, type InternalRoute } from '@tocsin/http';
import { type Knex, query } from '@tocsin/postgres';
import { ownProperty } from '@tocsin/runtime';
import { eraseInJson, personText, type PersonText } from './erase-person.ts';

/** The columns of a table that may have something of a person. */
interface PersonalTable {
  /** With the ID of a user. */
  readonly users?: readonly string[];
  /** A text, or a list of texts, each of which may be a name or an address: they are replaced. */
  readonly people?: readonly string[];
  /** JSON in which such texts are replaced. */
  readonly json?: readonly string[];
  /** Texts of other systems: one that names the person is set to null. */
  readonly emptied?: readonly string[];
  /** What people write: it is searched, and stays. */
  readonly texts?: readonly string[];
  /** What has the texts, as a place names it, and the column of its ID; without it, they are copies that expire. */
  readonly place?: { readonly kind: string; readonly id: string };
}

export type PersonalTables = Readonly<Record<string, PersonalTable>>;

/** Rows that are looked at in one page. */
const PAGE = 500;
/** The page compares so many bytes at most with all names and addresses together, besides its last row. */
const PAGE_BYTES = 8 * 1_048_576;
/** Milliseconds after which a step begins no other page. */
const STEP_TIME = 250;
/** Of a step that shows rows. */
const MAX_ROWS = 25;
const MAX_ROW_BYTES = 1_048_576;

interface Column {
  name: string;
  type: string;
  /** Its place in the primary key; null: it is no part of it. */
  place: number | null;
}

/** The queries of one table for one person. */
async function openTable(
  db: Knex,
  { name, table, request }: { name: string; table: PersonalTable; request: PersonalDataRequest },
) {
  const columns = await query<Column>(db, {
    text: `select a.attname as name, format_type(a.atttypid, null) as type,
        array_position(i.indkey::int2[], a.attnum) as place
      from pg_attribute a left join pg_index i on i.indrelid = a.attrelid and i.indisprimary
      where a.attrelid = to_regclass($1) and a.attnum > 0 and not a.attisdropped order by place`,
    values: [name],
  });
  const primary = columns.filter((column) => column.place !== null);
  // A table may have one row of each workspace.
  const key = primary.length === 1 ? primary : primary.filter((column) => column.name !== 'workspace_id');
  // Dead letters have the workspace only in their bodies.
  const scope = columns.some((column) => column.name === 'workspace_id')
    ? 'workspace_id = $1::bigint'
    : `body like '%"workspace":{"id":' || $1::bigint || ',%'`;
  const names = key.map((column) => column.name).join(', ');
  const { people = [], json = [], texts = [] } = table;
  const searched = [...people, ...json, ...texts].map((column) => `coalesce(octet_length(${column}::text), 0)`);
  const maxBytes = Math.ceil(PAGE_BYTES / (request.names.length + request.emails.length + 1));
  const bound = (first: number) => `(${key.map(({ type }, index) => `$${first + index}::${type}`).join(', ')})`;
  const behind = ({ after }: DataPosition, first: number) =>
    after.length === 0 ? '' : ` and (${names}) > ${bound(first)}`;
  return {
    columns,
    key,
    scope,
    /** The key of the last row of a page; undefined: the page has all others. */
    lastOf: async (position: DataPosition): Promise<string[] | undefined> => {
      const [row] = await query<Record<string, string>>(db, {
        // Reads no row behind the page. Sorted by the columns: their names alone mean the texts that are selected.
        text: `select ${key.map((column) => `${column.name}::text`).join(', ')} from (
            select ${names}, row_number() over in_order as walked_rows, sum(row_bytes) over in_order as walked_bytes from (
              select ${names}, ${searched.join(' + ') || '0'} as row_bytes from ${name}
              where ${scope}${behind(position, 2)} order by ${names} limit ${PAGE}) as page
            window in_order as (order by ${names} rows unbounded preceding)) as sized
          where walked_rows = ${PAGE} or walked_bytes >= ${maxBytes}
          order by ${key.map((column) => `sized.${column.name}`).join(', ')} limit 1`,
        values: [request.workspace.id, ...position.after],
      });
      return row && Object.values(row);
    },
    /** The condition of a page, with the values of its parameters. */
    page: (position: DataPosition, last: readonly string[] | undefined) => ({
      text: `${scope}${behind(position, 2)}${last === undefined ? '' : ` and (${names}) <= ${bound(2 + position.after.length)}`}`,
      order: names,
      values: [request.workspace.id, ...position.after, ...(last ?? [])],
    }),
  };
}

type OpenTable = Awaited<ReturnType<typeof openTable>>;

/** A condition for rows that may have something of the person. @param first the number of the first of its parameters */
function matching(table: PersonalTable, opened: OpenTable, options: { first: number; withUsers: boolean }): string {
  const { first, withUsers } = options;
  const types = new Map(opened.columns.map(({ name, type }) => [name, type]));
  const [patterns, jsonPatterns, user] = [0, 1, 2].map((index) => `$${first + index}`);
  const like = (column: string, parameter: string | undefined) => `${column}::text ilike any(${parameter}::text[])`;
  const conditions = [
    ...(table.people ?? []).map((column) =>
      like(types.get(column)?.endsWith('[]') === true ? `array_to_string(${column}, chr(10))` : column, patterns),
    ),
    ...(table.emptied ?? []).map((column) => like(column, patterns)),
    ...(table.texts ?? []).map((column) =>
      like(column, types.get(column)?.startsWith('json') === true ? jsonPatterns : patterns),
    ),
    ...(table.json ?? []).map((column) => like(column, jsonPatterns)),
    ...(withUsers
      ? (table.users ?? []).map((column) =>
          types.get(column)?.endsWith('[]') === true ? `${user} = any(${column})` : `${column}::text = ${user}`,
        )
      : []),
  ];
  // PostgreSQL wants to know the type of each parameter.
  const parameters = `row(${patterns}::text[], ${jsonPatterns}::text[], ${user}::text) is not null`;
  return `(${conditions.length === 0 ? 'false' : conditions.join(' or ')}) and ${parameters}`;
}

/** Walks from a position, page by page, until `isOver`. Returns where to continue; null: at the end. */
async function walk(
  tables: PersonalTables,
  start: DataPosition | null,
  { visit, isOver }: { visit: (position: DataPosition) => Promise<string[] | undefined>; isOver: () => boolean },
): Promise<DataPosition | null> {
  const names = Object.keys(tables);
  let position = start ?? { table: names[0] ?? '', after: [] };
  do {
    const last = await visit(position);
    const next = last === undefined ? names[names.indexOf(position.table) + 1] : position.table;
    // A table that a release has taken away is passed, too.
    if (next === undefined) return null;
    position = { table: next, after: last ?? [] };
  } while (!isOver());
  return position;
}

const tableOf = (tables: PersonalTables, name: string): PersonalTable =>
  new Map(Object.entries(tables)).get(name) ?? {};

/** Takes a step that erases a person from a schema, and finds the texts that still name them. */
export async function erasePersonalData(
  database: Knex,
  tables: PersonalTables,
  request: PersonalDataRequest,
): Promise<ErasureStep> {
  const person = personText(request);
  const places: DataPlace[] = [];
  const end = performance.now() + STEP_TIME;
  const next = await walk(tables, request.position, {
    isOver: () => performance.now() > end,
    visit: async (position) =>
      database.transaction(async (trx) => {
        const table = tableOf(tables, position.table);
        const opened = await openTable(trx, { name: position.table, table, request });
        const last = await opened.lastOf(position);
        for (const row of await lockRows(trx, { table, opened, position, last, person, request })) {
          await eraseRow(trx, { table, opened, position, person, request, row });
          places.push(...placesIn(row, table, person));
        }
        return last;
      }),
  });
  return { isReady: true, next, places };
}

interface Visit {
  table: PersonalTable;
  opened: OpenTable;
  position: DataPosition;
  person: PersonText;
  request: PersonalDataRequest;
}

type Row = Readonly<Record<string, string | readonly string[] | number | null>>;

async function lockRows(
  trx: Knex,
  { table, opened, position, last, person, request }: Visit & { last: string[] | undefined },
): Promise<Row[]> {
  const page = opened.page(position, last);
  const { people = [], json = [], emptied = [], texts = [], place } = table;
  const read = new Set([...people, ...(place === undefined ? [] : [place.id, ...incidentColumn(opened)])]);
  const columns = [
    ...opened.key.map(({ name }, index) => `${name}::text as key_${index}`),
    ...read,
    ...[...json, ...emptied, ...texts].filter((name) => !read.has(name)).map((name) => `${name}::text`),
  ];
  const match = matching(table, opened, { first: page.values.length + 1, withUsers: false });
  return query<Row>(trx, {
    text: `select ${columns.join(', ')} from ${position.table} where ${page.text} and ${match}
      order by ${page.order} for update`,
    values: [...page.values, person.patterns, person.jsonPatterns, String(request.user_id)],
  });
}

const INCIDENT = 'incident_id';
const incidentColumn = ({ columns }: OpenTable) => (columns.some(({ name }) => name === INCIDENT) ? [INCIDENT] : []);

async function eraseRow(
  trx: Knex,
  { table, opened, position, person, request, row }: Visit & { row: Row },
): Promise<void> {
  const erase = (value: string) => (person.is(value) ? person.erased : value);
  const changes: [column: string, value: unknown][] = [];
  for (const column of table.people ?? []) {
    const value = ownProperty(row, column);
    if (typeof value === 'string' && person.is(value)) changes.push([column, person.erased]);
    if (Array.isArray(value) && (value as string[]).some(person.is))
      changes.push([column, (value as string[]).map(erase)]);
  }
  for (const column of table.json ?? []) {
    const value = ownProperty(row, column);
    const erased = typeof value === 'string' ? eraseInJson(value, person) : value;
    if (erased !== value) changes.push([column, erased]);
  }
  for (const column of table.emptied ?? []) {
    const value = ownProperty(row, column);
    if (typeof value === 'string' && person.isIn(value)) changes.push([column, null]);
  }
  if (changes.length === 0) return;
  const types = new Map(opened.columns.map(({ name, type }) => [name, type]));
  const key = opened.key.map(({ name, type }, index) => `${name} = $${index + 2}::${type}`);
  const first = key.length + 2;
  await query(trx, {
    text: `update ${position.table}
      set ${changes.map(([column], index) => `${column} = $${first + index}::${types.get(column)}`).join(', ')}
      where ${opened.scope} and ${key.join(' and ')}`,
    values: [
      request.workspace.id,
      ...opened.key.map((_, index) => row[`key_${index}`]),
      ...changes.map(([, value]) => value),
    ],
  });
}

/** The texts of a row that name the person. */
function placesIn(row: Row, { texts = [], json = [], place }: PersonalTable, person: PersonText): DataPlace[] {
  if (place === undefined) return [];
  return [...texts, ...json].flatMap((property) => {
    const text = ownProperty(row, property);
    if (typeof text !== 'string' || person.is(text)) return [];
    if (!person.isIn(json.includes(property) ? eraseInJson(text, person) : text)) return [];
    const incidentId = row[INCIDENT];
    return {
      ...{ kind: place.kind, id: String(ownProperty(row, place.id)), property },
      incident_id: typeof incidentId === 'number' ? incidentId : null,
    };
  });
}

/** Takes a step that shows what a schema keeps about a person: rows as they are stored, without secrets and what is derived. */
export async function readPersonalData(
  database: Knex,
  tables: PersonalTables,
  request: PersonalDataRequest,
): Promise<DataStep> {
  const person = personText(request);
  const rows: DataStep['rows'] = [];
  let bytes = 0;
  const end = performance.now() + STEP_TIME;
  const next = await walk(tables, request.position, {
    isOver: () => performance.now() > end || rows.length >= MAX_ROWS || bytes > MAX_ROW_BYTES,
    visit: async (position) => {
      const table = tableOf(tables, position.table);
      const opened = await openTable(database, { name: position.table, table, request });
      const last = await opened.lastOf(position);
      const page = opened.page(position, last);
      const shown = opened.columns.filter(({ name, type }) => !/^bytea$|^bigint\[\]$/.test(type) && !isDerived(name));
      const match = matching(table, opened, { first: page.values.length + 1, withUsers: true });
      const matches = await query<{ row: string; key: string[] }>(database, {
        text: `select array[${opened.key.map(({ name }) => `${name}::text`).join(', ')}] as key,
            (select to_jsonb(shown) from (select ${shown.map(({ name }) => `one.${name}`).join(', ')}) as shown)::text as row
          from ${position.table} as one where ${page.text} and ${match} order by ${page.order} limit ${MAX_ROWS}`,
        values: [...page.values, person.patterns, person.jsonPatterns, String(request.user_id)],
      });
      for (const { row, key } of matches) {
        rows.push({ table: position.table, row: JSON.parse(row) as Record<string, unknown> });
        bytes += row.length;
        if (rows.length >= MAX_ROWS || bytes > MAX_ROW_BYTES) return key;
      }
      return last;
    },
  });
  return { next, rows };
}

/** What lists search and sort by. */
const isDerived = (column: string): boolean => /_folded$|_keys$|^sort_name$/.test(column);

/** The routes by which the gateway reads and erases what a service keeps about a person. */
export function personalDataRoutes(options: {
  database: Knex;
  tables: PersonalTables;
  /** Whether everything that the service has still to hear of the person has arrived; default: it hears of nobody. */
  isReady?: (request: PersonalDataRequest) => Promise<boolean>;
  /** Called when the person is erased; perhaps twice. */
  onErased?: (request: PersonalDataRequest) => Promise<void>;
}): InternalRoute[] {
  const { database, tables, isReady = async () => true, onErased = async () => undefined } = options;
  const spec = { callers: ['gateway'], body: personalDataRequest };
  return [
    internalCommand({
      ...{ ...spec, path: INTERNAL_PATHS.personalData },
      handle: async (request) => readPersonalData(database, tables, request),
    }),
    internalCommand({
      ...{ ...spec, path: INTERNAL_PATHS.personalDataErasure },
      handle: async (request) => {
        if (!(await isReady(request))) return { isReady: false, next: request.position, places: [] };
        const step = await erasePersonalData(database, tables, request);
        if (step.next === null) await onErased(request);
        return step;
      },
    }),
  ];
}
