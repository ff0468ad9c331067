import type { Span } from '@opentelemetry/api';
import type { PooledConnection } from './pooled-connection.ts';
import { recordedSpan, startSpan } from '@tocsin/runtime';

/** The most texts whose summary is kept. Lists have one for each combination of filters. */
const MAX_SUMMARIES = 1_000;
const summaries = new Map<string, string>();

const OPERATION = /^\s*(\w+)/;
/** The table that a statement writes, or else the first one that it reads. */
const WRITTEN_TABLE = /\b(insert\s+into|update|delete\s+from)\s+"?([a-z_]\w*)/i;
/** Not a function, as in `extract(epoch from now())`. */
const READ_TABLE = /\bfrom\s+"?([a-z_]\w*)\b(?!\()/i;

/**
 * Starts the span of a statement, as a child of the current span; undefined if that is not recorded. It says what the
 * statement does and with which table, never its text or its values.
 * @param summarise says what the statement does, or several that are sent together
 */
export function startStatementSpan(connection: PooledConnection, summarise: () => string): Span | undefined {
  if (recordedSpan() === undefined) return undefined;
  const summary = summarise();
  return startSpan({
    name: summary,
    kind: 'client',
    attributes: () => ({
      'db.system.name': 'postgresql',
      'db.namespace': connection.database ?? '',
      'db.query.summary': summary,
      'server.address': connection.host,
      'server.port': connection.port,
    }),
  });
}

/** `INSERT outbox`, `SELECT teams`, `COMMIT`. */
export function summaryOf(sql: string): string {
  const keptSummary = summaries.get(sql);
  if (keptSummary !== undefined) return keptSummary;
  const summary = summaryOfText(sql);
  if (summaries.size < MAX_SUMMARIES) summaries.set(sql, summary);
  return summary;
}

function summaryOfText(sql: string): string {
  const operation = OPERATION.exec(sql)?.[1]?.toUpperCase() ?? '_OTHER';
  if (!['WITH', 'SELECT', 'INSERT', 'UPDATE', 'DELETE'].includes(operation)) return operation;
  const [, write, written] = operation === 'SELECT' ? [] : (WRITTEN_TABLE.exec(sql) ?? []);
  if (write !== undefined) return `${write.split(/\s/, 1)[0]?.toUpperCase()} ${written}`;
  const table = READ_TABLE.exec(sql)?.[1];
  return table === undefined ? 'SELECT' : `SELECT ${table}`;
}
