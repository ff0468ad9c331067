import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { APP_NAMES, APPS, SERVICE_NAMES } from '../apps.ts';
import { ROOT } from '../environment.ts';
import { fileWithBlocks } from './blocks.ts';

const forEachService = (text: (folder: string, name: string) => string) => () =>
  SERVICE_NAMES.toSorted()
    .map((name) => text(APPS[name].folder, name))
    .join('\n');

/** All packages of the repository, because the lock file contains all of them. */
function manifests(): string {
  const { workspaces } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { workspaces: string[] };
  return globSync(
    workspaces.map((folder) => `${folder}/package.json`),
    { cwd: ROOT },
  )
    .toSorted()
    .map((file) => `COPY ${file} ${path.dirname(file)}/`)
    .join('\n');
}

export const dockerfile = fileWithBlocks('infra/Dockerfile', {
  'the targets': () => `# Targets: ${APP_NAMES.join(', ')}, jobs (migrations and administration).`,
  'the manifests of the packages': manifests,
  'the services': forEachService(
    (folder, name) =>
      `FROM runtime AS ${name}\nCOPY ${folder} ${folder}\n` +
      `CMD ["node", "--import", "@tocsin/tracing", "${folder}/src/main.ts"]\n`,
  ),
  'the descriptions of the services': forEachService((folder) => `COPY ${folder}/openapi.json ${folder}/`),
});
