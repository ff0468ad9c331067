import type { Answer, Command } from './command.ts';
import { formatTable, type Row, visible } from './table.ts';

/** Formats the answer of a command for people: its table, or one line for each property. */
export function formatAnswer({ table }: Pick<Command, 'table'>, answer: Answer): string {
  if (table === undefined) return formatProperties(answer).join('\n');
  const rows = typeof table.rows === 'string' ? (answer[table.rows] as Row[]) : table.rows(answer);
  return rows.length === 0 ? 'none' : formatTable(rows, table.columns).join('\n');
}

/** One line for each property; nested objects and lists of objects are indented. */
function formatProperties(answer: Row, indent = ''): string[] {
  return Object.entries(answer).flatMap(([name, value]) => {
    if (isList(value)) {
      const columns = [...new Set(value.flatMap((item) => Object.keys(item)))];
      return [`${indent}${name}`, ...formatTable(value, columns).map((line) => `${indent}  ${line}`)];
    }
    if (isRecord(value)) return [`${indent}${name}`, ...formatProperties(value, `${indent}  `)];
    return [`${indent}${name}: ${formatValue(value)}`];
  });
}

function formatValue(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none';
  if (Array.isArray(value)) return value.map(formatValue).join(', ');
  return visible(typeof value === 'string' ? value : JSON.stringify(value));
}

const isRecord = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value);
const isList = (value: unknown): value is Row[] => Array.isArray(value) && value.length > 0 && value.every(isRecord);
