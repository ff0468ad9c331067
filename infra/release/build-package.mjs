/**
 * `npm pack` of a package for other systems runs this first, in the folder of the package: it generates what is not
 * committed, and compiles the sources to plain JavaScript with type declarations, in `dist`.
 */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const root = path.join(import.meta.dirname, '../..');
const run = (...args) => execFileSync(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit'] });
rmSync('dist', { recursive: true, force: true });
run(path.join(root, 'infra/generate/main.ts'), '--package');
const compiler = path.join(path.dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');
run(compiler, '-p', 'tsconfig.build.json');
copyFileSync(path.join(root, 'LICENSE'), 'dist/LICENSE');

// Packages of ours that this one needs are built in: npm would look for a dependency of that name in a registry, where
// somebody else may have it.
const { builtIn = [], files: packed } = JSON.parse(readFileSync('package.json', 'utf8'));
const files = builtIn.length === 0 ? [] : globSync('dist/**/*.js');
for (const name of builtIn) {
  const folder = realpathSync(path.join(root, 'node_modules', name));
  const target = path.join('dist', path.basename(name));
  // Checked when its own package is made.
  const unchecked = ['--noCheck', '--declaration', 'false'];
  run(compiler, '-p', path.join(folder, 'tsconfig.build.json'), ...unchecked, '--outDir', target);
  const { exports } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
  for (const file of files) {
    const text = readFileSync(file, 'utf8').replaceAll(
      /(['"])(@[\w-]+\/[\w-]+)([\w/-]*)\1/g,
      (whole, quote, used, part) => {
        if (used !== name) return whole;
        const built = path.join(target, path.relative('dist', exports[`.${part}`].default));
        const relative = path.relative(path.dirname(file), built);
        return `${quote}${relative.startsWith('.') ? '' : './'}${relative}${quote}`;
      },
    );
    writeFileSync(file, text);
  }
}

// npm packs the modes that files have, which depend on the umask of who checked them out.
for (const file of globSync(['package.json', 'README.md', ...packed, ...packed.map((each) => `${each}/**`)])) {
  const { mode } = statSync(file);
  chmodSync(file, mode & 0o100 ? 0o755 : 0o644);
}
