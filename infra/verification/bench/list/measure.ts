import type { Case } from './cases.ts';
import { type Cost, costOf } from './explain.ts';
import { recordStatements, type Statement } from '../../statements/record-statements.ts';
import type { ServiceUnderTest } from './service-under-test.ts';

export interface Measurement extends Cost {
  name: string;
  /** Incidents on the page. */
  rows: number;
  /** The whole HTTP request; milliseconds, the minimum of several. */
  request: number;
}

const RUNS = 5;
const REQUESTS = 11;
const LIST = '/api/v1/incidents';

/** The statements that read the list, including those of the prefilter. */
const isList = ({ text }: Statement) =>
  / (?:from|join) (?:incidents as i|incident_mrr as m|incident_values as v)\b/.test(text);
const isCount = ({ text }: Statement) => /^select (?:i.status, )?count\(\*\)/.test(text);

/** A first page of 50. */
export const measurePage = async (service: ServiceUnderTest, listCase: Case): Promise<Measurement> =>
  measure(service, listCase.name, `${LIST}?${listCase.query}`);

/** A page of 50 after `depth` incidents, in the same order. */
export async function measureDeepPage(service: ServiceUnderTest, listCase: Case, depth: number): Promise<Measurement> {
  let cursor = '';
  for (let skipped = 0; skipped < depth; skipped += 100) {
    const { next_cursor } = await service.get(`${LIST}?${listCase.query}&limit=100${cursor}`);
    cursor = `&cursor=${String(next_cursor)}`;
  }
  return measure(service, listCase.name, `${LIST}?${listCase.query}${cursor}`);
}

/** The counts of a page, without the page. */
export const measureCounts = async (service: ServiceUnderTest, listCase: Case): Promise<Measurement> =>
  measure(service, listCase.name, `${LIST}?include_counts=true&limit=1&${listCase.query}`, isCount);

async function measure(
  service: ServiceUnderTest,
  name: string,
  path: string,
  isRelevant: (statement: Statement) => boolean = (statement) => !isCount(statement),
): Promise<Measurement> {
  let page: unknown[] = [];
  const statements = await recordStatements(async () => {
    page = (await service.get(path))['incidents'] as unknown[];
  });
  const times: number[] = [];
  for (let request = 0; request < REQUESTS; request += 1) {
    const started = performance.now();
    await service.get(path);
    times.push(performance.now() - started);
  }
  const cost = await costOf(
    service.database,
    statements.filter((statement) => isList(statement) && isRelevant(statement)),
    RUNS,
  );
  return { ...cost, name, rows: page.length, request: Math.min(...times) };
}
