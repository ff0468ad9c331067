import { loadModule, parseSync } from 'libpg-query';

await loadModule();

/** A node of the tree that PostgreSQL's parser makes: an object with its kind as the only property. */
type Node = Readonly<Record<string, unknown>>;

/** The tables of one SELECT, INSERT, UPDATE or DELETE by the names that its columns have there. */
type Level = ReadonlyMap<string, Reference>;

interface Reference {
  table: string;
  isOfWorkspace: boolean;
}

/** A column `workspace_id` equals something else: the names of their tables, empty without one, or `VALUE`. */
type Equality = readonly [a: string, b: string];

const COLUMN = 'workspace_id';
/** Stands for a parameter, and for any other value. */
const VALUE = '=';

/**
 * Returns the tables of workspaces that a statement reads or writes without naming the workspace: no condition compares
 * the column `workspace_id` of the table with a value, or with that of another table that has such a condition. Each
 * query in the statement is looked at by itself; columns of queries around it, of CTEs and of functions are values.
 */
export function unnamedWorkspaces(text: string, tables: ReadonlySet<string>): string[] {
  const { stmts } = parseSync(text) as { stmts: { stmt: Node }[] };
  return stmts.flatMap(({ stmt }) => [...unnamedIn(stmt, tables, new Set())]);
}

/** @param shadowed the names of the CTEs, which hide tables */
function* unnamedIn(value: unknown, tables: ReadonlySet<string>, shadowed: ReadonlySet<string>): Generator<string> {
  if (Array.isArray(value)) {
    for (const each of value) yield* unnamedIn(each, tables, shadowed);
    return;
  }
  if (!isNode(value)) return;
  const [[kind, query] = ['', undefined]] = Object.entries(value);
  if (isNode(query) && QUERIES.has(kind)) {
    yield* unnamedOfQuery(kind, query, { tables, shadowed });
    return;
  }
  // The operands of a union are queries without their kind.
  for (const [name, each] of Object.entries(value)) {
    if ((name === 'larg' || name === 'rarg') && isNode(each) && 'op' in each && 'limitOption' in each)
      yield* unnamedOfQuery('SelectStmt', each, { tables, shadowed });
    else yield* unnamedIn(each, tables, shadowed);
  }
}

const QUERIES = new Set(['SelectStmt', 'InsertStmt', 'UpdateStmt', 'DeleteStmt']);

function* unnamedOfQuery(
  kind: string,
  query: Node,
  { tables, shadowed }: { tables: ReadonlySet<string>; shadowed: ReadonlySet<string> },
): Generator<string> {
  const inner = new Set([...shadowed, ...namesOfCtes(query.withClause)]);
  const level = new Map<string, Reference>();
  const equalities: Equality[] = [];
  const add = (relation: Node) => {
    const { relname: table, alias } = relation as { relname: string; alias?: { aliasname: string } };
    level.set(alias?.aliasname ?? table, { table, isOfWorkspace: tables.has(table) && !inner.has(table) });
  };
  const addSource = (source: unknown): void => {
    if (!isNode(source)) return;
    if (isNode(source.RangeVar)) add(source.RangeVar);
    if (!isNode(source.JoinExpr)) return;
    const { larg, rarg, quals, usingClause } = source.JoinExpr;
    addSource(larg);
    addSource(rarg);
    equalities.push(...equalitiesOf(quals));
    if (textsOf(usingClause).includes(COLUMN)) equalities.push(...usingOf(larg, rarg));
  };
  if (isNode(query.relation) && kind !== 'InsertStmt') add(query.relation);
  for (const source of [query.fromClause, query.usingClause].flat()) addSource(source);
  equalities.push(...equalitiesOf(query.whereClause));
  for (const { table } of unanchored(level, equalities)) yield table;

  if (kind === 'InsertStmt' && isNode(query.relation)) {
    const { relname: table } = query.relation as { relname: string };
    const columns = (query.cols as { ResTarget: { name: string } }[] | undefined) ?? [];
    if (tables.has(table) && !columns.some(({ ResTarget }) => ResTarget.name === COLUMN)) yield table;
  }
  for (const [name, each] of Object.entries(query)) {
    const isOperand = (name === 'larg' || name === 'rarg') && isNode(each);
    if (isOperand) yield* unnamedOfQuery('SelectStmt', each, { tables, shadowed: inner });
    else yield* unnamedIn(each, tables, inner);
  }
}

/** The tables of workspaces that no chain of equalities connects with a value. */
function unanchored(level: Level, equalities: readonly Equality[]): Reference[] {
  const ofWorkspace = new Map([...level].filter(([, { isOfWorkspace }]) => isOfWorkspace));
  const named = new Set<string>();
  const isValue = (name: string) => name === VALUE || (name !== '' && !ofWorkspace.has(name)) || named.has(name);
  for (let size = -1; size < named.size;) {
    size = named.size;
    for (const [a, b] of [...equalities, ...equalities.map(([left, right]): Equality => [right, left])]) {
      if (!isValue(b)) continue;
      // A column without the name of its table is of the only one here that has it.
      for (const name of a === '' ? ofWorkspace.keys() : [a]) named.add(name);
    }
  }
  return [...ofWorkspace].flatMap(([name, reference]) => (named.has(name) ? [] : [reference]));
}

/** The equalities without which a condition is not met. */
function equalitiesOf(condition: unknown): Equality[] {
  if (!isNode(condition)) return [];
  if (isNode(condition.BoolExpr)) {
    const { boolop, args } = condition.BoolExpr as { boolop: string; args: unknown[] };
    const parts = args.map(equalitiesOf);
    if (boolop === 'AND_EXPR') return parts.flat();
    if (boolop !== 'OR_EXPR') return [];
    const [first = [], ...others] = parts;
    return first.filter(([a, b]) => others.every((other) => other.some(([c, d]) => a === c && b === d)));
  }
  if (isNode(condition.SubLink)) {
    // `workspace_id in (select …)` and `(workspace_id, id) in (select …)`
    const { subLinkType, testexpr, operName } = condition.SubLink;
    const isIn = subLinkType === 'ANY_SUBLINK' && operName === undefined;
    return isIn ? operandsOf(testexpr).flatMap((operand) => equalityOf(operand, undefined)) : [];
  }
  if (!isNode(condition.A_Expr)) return [];
  const { kind, name, lexpr, rexpr } = condition.A_Expr;
  const isEquality = ['AEXPR_OP', 'AEXPR_OP_ANY', 'AEXPR_IN'].includes(String(kind)) && textsOf(name).join('') === '=';
  if (!isEquality) return [];
  const [left, right] = [operandsOf(lexpr), operandsOf(rexpr)];
  return left.flatMap((operand, index) => equalityOf(operand, right.length === left.length ? right[index] : undefined));
}

/** The parts of a row, or the operand itself. */
const operandsOf = (operand: unknown): unknown[] => {
  const row = isNode(operand) && isNode(operand.RowExpr) ? (operand.RowExpr.args as unknown[]) : undefined;
  return row ?? [operand];
};

function equalityOf(left: unknown, right: unknown): Equality[] {
  const [a, b] = [tableOfColumn(left), tableOfColumn(right)];
  if (a === undefined && b === undefined) return [];
  return a === undefined ? [[b as string, valueOf(left)]] : [[a, b ?? valueOf(right)]];
}

/** The name of the table of another column than `workspace_id`, which may be of a table of workspaces. */
const valueOf = (operand: unknown): string => {
  const column = columnOf(operand);
  return column === undefined ? VALUE : (column.at(-2) ?? VALUE);
};

/** The name of the table of a column `workspace_id`, empty without one; undefined for anything else. */
function tableOfColumn(operand: unknown): string | undefined {
  const column = columnOf(operand);
  return column?.at(-1) === COLUMN ? (column.at(-2) ?? '') : undefined;
}

const columnOf = (operand: unknown): string[] | undefined =>
  isNode(operand) && isNode(operand.ColumnRef) ? textsOf(operand.ColumnRef.fields) : undefined;

/** `join … using (workspace_id)` of two tables. */
function usingOf(left: unknown, right: unknown): Equality[] {
  const nameOf = (source: unknown) => {
    if (!isNode(source) || !isNode(source.RangeVar)) return VALUE;
    const { relname, alias } = source.RangeVar as { relname: string; alias?: { aliasname: string } };
    return alias?.aliasname ?? relname;
  };
  return [[nameOf(right), nameOf(left)]];
}

const namesOfCtes = (clause: unknown): string[] =>
  isNode(clause)
    ? (clause.ctes as { CommonTableExpr: { ctename: string } }[]).map(({ CommonTableExpr }) => CommonTableExpr.ctename)
    : [];

const textsOf = (strings: unknown): string[] =>
  Array.isArray(strings)
    ? (strings as { String?: { sval: string } }[]).map(({ String: text }) => text?.sval ?? '*')
    : [];

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);
