/** `npm pack` runs this first: it compiles the sources to plain JavaScript with type declarations, in `dist`. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = path.dirname(fileURLToPath(import.meta.url));
const dist = path.join(folder, 'dist');
rmSync(dist, { recursive: true, force: true });
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
execFileSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' });
copyFileSync(path.join(folder, '../../LICENSE'), path.join(dist, 'LICENSE'));
