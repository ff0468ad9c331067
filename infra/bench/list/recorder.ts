import pg from 'pg';

/** A statement as it was sent, its values apart from it. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** Notes every statement that this process sends to Postgres while `work` is under way. */
export async function record(work: () => Promise<unknown>): Promise<Statement[]> {
  const statements: Statement[] = [];
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = client;
  client.query = function (this: unknown, ...args: unknown[]) {
    const [sent, values] = args as [string | Statement, unknown[] | undefined];
    if (typeof sent === 'string') statements.push({ text: sent, values: values ?? [] });
    else statements.push({ text: sent.text, values: sent.values });
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    client.query = query;
  }
  return statements;
}
