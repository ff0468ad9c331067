import { cpus } from 'node:os';
import type { Size } from '../../seed/size.ts';
import { type Case, COMBINATIONS, COUNTS, CUSTOM_SORTS, FILTERS, SORTS } from './cases.ts';
import { type Measured, measureCounts, measureDeepPage, measurePage } from './measure.ts';
import type { Subject } from './subject.ts';

/** Incidents before a deep page. */
const DEPTH = 20_000;

/** Measures everything, and answers the document. @param tell gets a line for each figure as it comes */
export async function report(subject: Subject, size: Size, tell: (line: string) => void): Promise<string> {
  const all = async (title: string, cases: readonly Case[], measure: (one: Case) => Promise<Measured>) => {
    tell(`# ${title}`);
    const measured: Measured[] = [];
    for (const one of cases) {
      const figures = await measure(one);
      measured.push(figures);
      tell(`${figures.execution.toFixed(2)} ms  ${figures.name}`);
    }
    return `## ${title}\n\n${table(measured)}`;
  };
  const page = async (one: Case) => measurePage(subject, one);
  const sections = [
    await all('Filters, newest first', FILTERS, page),
    await all('Filters and sorts together', COMBINATIONS, page),
    await all('Sorts', SORTS, page),
    await all(`Sorts, ${number(DEPTH)} incidents deep`, SORTS, async (one) => measureDeepPage(subject, one, DEPTH)),
    await all('Sorts by custom fields', CUSTOM_SORTS, page),
    await all(`Sorts by custom fields, ${number(DEPTH)} incidents deep`, CUSTOM_SORTS, async (one) =>
      measureDeepPage(subject, one, DEPTH),
    ),
    await all('Counts', COUNTS, async (one) => measureCounts(subject, one)),
  ];
  return `${await introduction(subject, size)}\n\n${sections.join('\n\n')}\n`;
}

async function introduction({ database }: Subject, { incidents, workspaces }: Size): Promise<string> {
  const { rows } = await database.raw<{
    rows: { version: string; buffers: string; biggest: number; indexes: string }[];
  }>(
    `select current_setting('server_version') as version, current_setting('shared_buffers') as buffers,
       (select max(last) from incident_counters) as biggest, string_agg(format('%s MiB of \`%s\`', pg_indexes_size(name) >> 20, name), ', ') as indexes
     from unnest(array['incidents', 'incident_values', 'incident_mrr']::regclass[]) as name`,
  );
  const [server] = rows;
  return `# How fast lists of incidents are

Made by \`npm run bench:list\`, which fills a fresh database first (\`npm run seed\`) and then asks the incident service for
pages of 50. Each statement that the service sends is run again with \`EXPLAIN (ANALYZE, BUFFERS)\`; *database* is its
execution time, the least of five runs, *planning* comes on top of it, *pages* are the 8 KiB pages that it looked at. *Request*
is the whole HTTP request to the service, the least of eleven. Repeat it with

    DATABASE_URL=postgres://postgres@127.0.0.1:5432/tocsin_bench npm run bench:list

- ${number(incidents)} incidents in ${workspaces} workspaces, ${number(server?.biggest ?? 0)} of them in the one that is asked for; archived ones included
- PostgreSQL ${server?.version.split(' ')[0]} with ${server?.buffers} of shared buffers, Node ${process.versions.node}, ${cpus().length} cores (${cpus()[0]?.model.trim()})
- indexes: ${server?.indexes}`;
}

function table(measured: readonly Measured[]): string {
  const lines = measured.map(
    ({ name, rows, execution, planning, pages, request, indexes }) =>
      `| ${name.replaceAll('|', '\\|')} | ${rows} | ${milliseconds(execution)} | ${milliseconds(planning)} | ${number(pages)} | ${milliseconds(request)} | ${indexes.map(shortened).join(', ')} |`,
  );
  return [
    '| asked for | incidents | database, ms | planning, ms | pages | request, ms | indexes |',
    '| --- | ---: | ---: | ---: | ---: | ---: | --- |',
    ...lines,
  ].join('\n');
}

const shortened = (index: string) => index.replace(/^incidents?_/, '');
const milliseconds = (value: number) => value.toFixed(value < 10 ? 2 : 0);
const number = (value: number) => value.toLocaleString('en-US');
