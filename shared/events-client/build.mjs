/**
 * `npm pack` runs this first: it generates the schemas, types and validators from `shared/contracts`, and compiles the
 * sources to plain JavaScript with type declarations, in `dist`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
execFileSync(process.execPath, [path.join(folder, '../../infra/generate/main.ts'), '--package'], { stdio: 'inherit' });
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', path.join(folder, 'tsconfig.build.json')], { stdio: 'inherit' });
copyFileSync(path.join(folder, '../../LICENSE'), path.join(dist, 'LICENSE'));
