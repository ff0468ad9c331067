import type { Case } from './cases.ts';
import { type Cost, costOf } from './explain.ts';
import { record, type Statement } from './recorder.ts';
import type { Subject } from './subject.ts';

export interface Measured extends Cost {
  name: string;
  /** Incidents on the page. */
  rows: number;
  /** The whole request as its client sees it; milliseconds, the least of several. */
  request: number;
}

const RUNS = 5;
const REQUESTS = 11;
const LIST = '/api/v1/incidents';

/** The statements that read the list, and those that look for what is rare before it. */
const isList = ({ text }: Statement) =>
  / (?:from|join) (?:incidents as i|incident_mrr as m|incident_values as v)\b/.test(text);
const isCount = ({ text }: Statement) => /^select (?:i.status, )?count\(\*\)/.test(text);

/** A first page of 50. */
export const measurePage = async (subject: Subject, one: Case): Promise<Measured> =>
  measure(subject, one.name, `${LIST}?${one.query}`);

/** A page of 50 after `depth` incidents, in the same order. */
export async function measureDeepPage(subject: Subject, one: Case, depth: number): Promise<Measured> {
  let cursor = '';
  for (let passed = 0; passed < depth; passed += 100) {
    const { next_cursor } = await subject.get(`${LIST}?${one.query}&limit=100${cursor}`);
    cursor = `&cursor=${String(next_cursor)}`;
  }
  return measure(subject, one.name, `${LIST}?${one.query}${cursor}`);
}

/** The counts that stand beside a page, without the page. */
export const measureCounts = async (subject: Subject, one: Case): Promise<Measured> =>
  measure(subject, one.name, `${LIST}?include_counts=true&limit=1&${one.query}`, isCount);

async function measure(
  subject: Subject,
  name: string,
  path: string,
  matters: (statement: Statement) => boolean = (statement) => !isCount(statement),
): Promise<Measured> {
  let page: unknown[] = [];
  const statements = await record(async () => {
    page = (await subject.get(path))['incidents'] as unknown[];
  });
  const times: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const started = performance.now();
    await subject.get(path);
    times.push(performance.now() - started);
  }
  const cost = await costOf(
    subject.database,
    statements.filter((statement) => isList(statement) && matters(statement)),
    RUNS,
  );
  return { ...cost, name, rows: page.length, request: Math.min(...times) };
}
