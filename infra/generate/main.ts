/**
 * `generate` writes what follows from other files: API descriptions from contracts, clients from these, schemas and
 * types of events, guides, and parts of deployments. `npm run generate` writes every generated file that differs from
 * its sources, and with `--package` only those of the packages for clients, `@tocsin/events` and `@tocsin/sdk`, which
 * are not committed: what tests, checks or packs these runs this first. `npm run check:generated` writes nothing, and
 * fails naming the stale files. The same sources give the same text. A file by hand may have generated blocks
 * (`blocks.ts`). A generator that fails is named, and the others run; the exit code is 1 then.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { APP_NAMES } from '../installation/apps.ts';
import { ROOT } from '../installation/environment.ts';
import { asyncApiFile, exampleFiles } from './asyncapi.ts';
import { chartFiles } from './chart.ts';
import { cliFile } from './cli.ts';
import { composeFile } from './compose.ts';
import { dockerfile } from './dockerfile.ts';
import { eventsPackageFiles } from './events-package.ts';
import { guidePagesFile } from './guide-pages.ts';
import { guidesFile } from './guides.ts';
import { kubernetesFiles } from './kubernetes.ts';
import { openApiFile } from './openapi.ts';
import { prometheusRuleFile } from './prometheus-rule.ts';
import { sdkFiles, sdkTypeFiles } from './sdk.ts';
import { workspaceSchemaFile } from './workspace-schema.ts';

/** A generated file: the same sources give the same text. */
interface GeneratedFile {
  /** From the top of the repository. */
  file: string;
  generate: () => Promise<string>;
}

const COMMITTED: readonly GeneratedFile[] = [
  ...APP_NAMES.map(openApiFile),
  guidesFile,
  guidePagesFile,
  asyncApiFile,
  ...exampleFiles,
  prometheusRuleFile,
  dockerfile,
  composeFile,
  ...kubernetesFiles,
  ...chartFiles,
  ...sdkFiles,
  cliFile,
  workspaceSchemaFile,
];
const check = process.argv.includes('--check');
const onlyPackage = process.argv.includes('--package');
const files = [...(onlyPackage ? [] : COMMITTED), ...(check ? [] : [...eventsPackageFiles, ...sdkTypeFiles])];

let upToDate = 0;
for (const { file, generate } of files) {
  const target = path.join(ROOT, file);
  try {
    const text = await generate();
    if (text === (await readFile(target, 'utf8').catch(() => undefined))) {
      upToDate += 1;
    } else if (check) {
      console.error(`${file} is stale: run npm run generate`);
      process.exitCode = 1;
    } else {
      await mkdir(path.dirname(target), { recursive: true });
      await writeFile(target, text);
      if (!onlyPackage) console.log(`wrote ${file}`);
      upToDate += 1;
    }
  } catch (error) {
    console.error(`cannot generate ${file}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
if (!onlyPackage) console.log(`${upToDate} of ${files.length} generated files are up to date`);
