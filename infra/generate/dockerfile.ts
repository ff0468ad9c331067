import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from '../installation/environment.ts';
import { fileWithBlocks } from './blocks.ts';

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

export const dockerfile = fileWithBlocks('infra/Dockerfile', { 'the manifests of the packages': manifests });
