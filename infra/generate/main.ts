/**
 * `npm run generate` writes every generated file that differs from its sources;
 * `npm run check:generated` writes nothing, and fails naming the stale files.
 */
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SERVICE_NAMES } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { asyncApiFile, exampleFiles } from './asyncapi.ts';
import { composeFile } from './compose.ts';
import { dockerfile } from './dockerfile.ts';
import { eventsPackageFiles } from './events-package.ts';
import { guidesFile } from './guides.ts';
import { kubernetesFiles } from './kubernetes.ts';
import { openApiFile } from './openapi.ts';
import { prometheusRuleFile } from './prometheus-rule.ts';

/** A file of the repository that is generated: the same sources give the same text. */
interface GeneratedFile {
  /** From the top of the repository. */
  file: string;
  generate: () => Promise<string>;
}

const FILES: readonly GeneratedFile[] = [
  ...SERVICE_NAMES.map(openApiFile),
  guidesFile,
  asyncApiFile,
  ...exampleFiles,
  prometheusRuleFile,
  ...eventsPackageFiles,
  dockerfile,
  composeFile,
  ...kubernetesFiles,
];
const check = process.argv.includes('--check');

let upToDate = 0;
for (const { file, generate } of FILES) {
  const target = path.join(ROOT, file);
  try {
    const text = await generate();
    if (text === (await readFile(target, 'utf8').catch(() => undefined))) {
      upToDate += 1;
    } else if (check) {
      console.error(`${file} is stale: run npm run generate`);
      process.exitCode = 1;
    } else {
      await writeFile(target, text);
      console.log(`wrote ${file}`);
      upToDate += 1;
    }
  } catch (error) {
    console.error(`cannot generate ${file}: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}
console.log(`${upToDate} of ${FILES.length} generated files are up to date`);
