/**
 * `npm run check:api-changes` compares the API description with that of the last release or, before the first one, with
 * the one that was made the baseline (`infra/verification/checks/api-baseline.json`). A change that could break a client
 * fails unless CHANGELOG.md has it in what is unreleased, as a code span with the words of this check.
 * `node infra/verification/checks/api-changes.ts --baseline` makes the present description the baseline.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type ApiDescription, readPublicDescription } from '../../../gateway/src/description.ts';
import { APP_NAMES } from '../../installation/apps.ts';
import { ROOT } from '../../installation/environment.ts';
import { checkRelease, lastRelease } from '../compat/last-release.ts';
import { breakingChanges } from './compare-api.ts';
import { unnamedChanges } from './unnamed-changes.ts';

const BASELINE = path.join(import.meta.dirname, 'api-baseline.json');

/** The parts of a description that are compared, without texts, examples and error responses. */
function baselineOf(release: string | undefined, { openapi, info, paths, components }: ApiDescription): string {
  const operations: [string, unknown][] = Object.entries(paths).map(([name, methods]) => [
    name,
    Object.fromEntries(
      Object.entries(methods).map(([method, { summary: _, description: __, responses, ...operation }]) => [
        method,
        {
          ...operation,
          responses: Object.fromEntries(Object.entries(responses).filter(([status]) => status.startsWith('2'))),
        },
      ]),
    ),
  ]);
  const { title, version } = info;
  return JSON.stringify(
    {
      release,
      openapi,
      info: { title, version },
      paths: Object.fromEntries(operations),
      components: { schemas: components?.schemas },
    },
    // A property may be named like a text; its value is a schema then.
    (key, value: unknown) =>
      key.startsWith('example') || (typeof value === 'string' && key === 'description') ? undefined : value,
  );
}

async function readBaseline(): Promise<ApiDescription> {
  const baseline = JSON.parse(await readFile(BASELINE, 'utf8')) as ApiDescription & { release?: string };
  checkRelease(BASELINE, baseline.release);
  return baseline;
}

const countOperations = ({ paths }: ApiDescription) =>
  Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);

const description = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');
if (process.argv.includes('--baseline')) {
  await writeFile(BASELINE, `${baselineOf(lastRelease(), description)}\n`);
  console.log('the baseline is the present description');
} else {
  const baseline = await readBaseline();
  const changes = breakingChanges(baseline, description);
  const unnamed = unnamedChanges(changes, await readFile(path.join(ROOT, 'CHANGELOG.md'), 'utf8'));
  for (const change of unnamed) console.error(`breaks clients, and is not in CHANGELOG.md as a code span: ${change}`);
  console.log(
    `${countOperations(baseline)} operations compared: ${changes.length} breaking changes, ` +
      `${changes.length - unnamed.length} of them in CHANGELOG.md`,
  );
  if (unnamed.length > 0 || countOperations(baseline) === 0) process.exitCode = 1;
}
