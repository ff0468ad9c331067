import pg from 'pg';

/** A statement as it was sent, with its values. */
export interface Statement {
  text: string;
  values: unknown[];
  /** The name of a prepared statement. */
  name: string | undefined;
  /** The database role of the sender: each app has its own. */
  role: string | undefined;
}

/** Records every statement that this process sends to Postgres during `work`. */
export async function recordStatements(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = client;
  client.query = function (this: { user?: string }, ...args: unknown[]) {
    // The second argument may be a callback instead of values.
    const [statement, values] = args as [string | pg.QueryConfig | { statements: readonly pg.QueryConfig[] }, unknown];
    const configs: readonly pg.QueryConfig[] =
      typeof statement === 'string'
        ? [{ text: statement, values: Array.isArray(values) ? values : [] }]
        : 'statements' in statement
          ? statement.statements
          : [statement];
    for (const { text, values: bound, name } of configs) {
      statements.push({ text, values: bound ?? [], name: name === '' ? undefined : name, role: this.user });
    }
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return statements;
}
