import { APP_NAMES } from '../../installation/apps.ts';
import type { VictimSummary } from './messages.ts';
import type { Row } from './suite.ts';

const HEADINGS = [
  'attack',
  'mode',
  'sent',
  'attacker got',
  'victims',
  'errors',
  'p50 before/during',
  'p99 before/during',
  'feed before/during',
  `MiB ${APP_NAMES.join('/')}/child`,
  'event loop apps/victims',
  'verdict',
];

/** Returns the rows as a table for people, and below it what failed. */
export function table(rows: readonly Row[]): string {
  const cells = [HEADINGS, ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  const lines = cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const failures = rows.flatMap(({ attack, mode, failures: failed }) =>
    failed.map(({ rule, message }) => `${attack} (${mode}): ${rule}: ${message}`),
  );
  return [...lines, '', ...failures, summary(rows)].join('\n');
}

/** One line for a row, while the suite runs. */
export function progress(row: Row): string {
  const reasons = row.failures.map(({ message }) => message).join('; ');
  return `${verdict(row).padEnd(7)} ${row.attack} (${row.mode})${reasons === '' ? '' : `: ${reasons}`}`;
}

function summary(rows: readonly Row[]): string {
  const count = (name: string) => rows.filter((row) => verdict(row) === name).length;
  return `${count('passed')} passed, ${count('FAILED')} failed, ${count('skipped')} skipped`;
}

function verdict({ failures, attacker }: Row): 'passed' | 'FAILED' | 'skipped' {
  if (failures.length > 0) return 'FAILED';
  return attacker.skipped === undefined ? 'passed' : 'skipped';
}

function cellsOf(row: Row): string[] {
  const { before, during, attacker, measurement } = row;
  const both = (name: 'p50' | 'p99') => `${milliseconds(before[name])}/${milliseconds(during[name])} ms`;
  const delays = Object.values(measurement.eventLoop);
  return [
    row.attack,
    row.mode,
    String(attacker.requestCount),
    counts(attacker.outcomes),
    String(during.requests),
    errorsOf(during),
    both('p50'),
    both('p99'),
    `${lagOf(before)}/${lagOf(during)}`,
    [...APP_NAMES.map((name) => measurement.memory[name]), measurement.childMemory].map(Math.round).join('/'),
    `${delays.length === 0 ? 'n/a' : milliseconds(Math.max(...delays))}/${milliseconds(during.eventLoop)} ms`,
    attacker.skipped === undefined ? verdict(row) : `${verdict(row)}: ${attacker.skipped}`,
  ];
}

const milliseconds = (value: number) => String(Math.round(value));
const lagOf = ({ lag }: VictimSummary) => (lag === undefined ? '-' : `${milliseconds(lag)} ms`);
const errorsOf = ({ errors }: VictimSummary) => (Object.keys(errors).length === 0 ? '0' : counts(errors));

function counts(outcomes: Record<string, number>): string {
  const parts = Object.entries(outcomes).map(([outcome, count]) => `${count}×${outcome}`);
  return parts.length === 0 ? '-' : parts.join(' ');
}
