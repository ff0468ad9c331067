/**
 * `npm pack` of a package for other systems runs this first, in the folder of the package: it generates what is not
 * committed, and compiles the sources to plain JavaScript with type declarations, in `dist`.
 */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');
const run = (...args) => execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
rmSync('dist', { recursive: true, force: true });
run(path.join(root, 'infra/generate/main.ts'), '--package');
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
run(compiler, '-p', 'tsconfig.build.json');
copyFileSync(path.join(root, 'LICENSE'), 'dist/LICENSE');
