/**
 * `npm run check:api-changes` compares the API description with that of the last release, `infra/verification/checks/api-baseline.json`
 * (before the first release there is none).
 * A change that could break a client fails unless `infra/verification/checks/accepted-api-changes.json` names it with its reason.
 * `node infra/verification/checks/api-changes.ts --release` makes the present description the baseline and empties that list.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { type ApiDescription, readPublicDescription } from '../../../gateway/src/description.ts';
import { APP_NAMES } from '../../installation/apps.ts';
import { checkRelease, lastRelease } from '../compat/last-release.ts';
import { breakingChanges } from './compare-api.ts';

const BASELINE = path.join(import.meta.dirname, 'api-baseline.json');
const ACCEPTED = path.join(import.meta.dirname, 'accepted-api-changes.json');

const acceptedChanges = z.array(z.strictObject({ change: z.string(), reason: z.string().min(1) }));

/** The parts of a description that are compared, without texts, examples and error responses. */
function baselineOf(release: string, { openapi, info, paths, components }: ApiDescription): string {
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
  const baseline = JSON.parse(await readFile(BASELINE, 'utf8')) as ApiDescription & { release: string };
  checkRelease(BASELINE, baseline.release);
  return baseline;
}

const countOperations = ({ paths }: ApiDescription) =>
  Object.values(paths).reduce((sum, methods) => sum + Object.keys(methods).length, 0);

const release = lastRelease();
const description = await readPublicDescription(APP_NAMES, 'https://{workspace}.tocsin.example');
if (process.argv.includes('--release')) {
  if (release === undefined) throw new Error('CHANGELOG.md has no release');
  await writeFile(BASELINE, `${baselineOf(release, description)}\n`);
  await writeFile(ACCEPTED, '[]\n');
  console.log('the baseline is the present description');
} else {
  const accepted = acceptedChanges.parse(JSON.parse(await readFile(ACCEPTED, 'utf8')));
  const changes = release === undefined ? [] : breakingChanges(await readBaseline(), description);
  const named = new Set(accepted.map(({ change }) => change));
  const unnamed = changes.filter((change) => !named.has(change));
  const obsolete = [...named].filter((change) => !changes.includes(change));
  for (const change of unnamed) console.error(`breaks clients: ${change}`);
  for (const change of obsolete) console.error(`is accepted but does not exist: ${change}`);
  if (release === undefined) {
    console.log(`no release yet: nothing to compare; 0 of ${countOperations(description)} operations compared`);
  }
  console.log(
    `${changes.length} breaking changes since the last release, ${changes.length - unnamed.length} of them accepted`,
  );
  if (unnamed.length > 0 || obsolete.length > 0) process.exitCode = 1;
}
