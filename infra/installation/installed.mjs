// Runs before a command (`node --import`), with any version of Node and without any package: says what to do when the
// dependencies are missing, instead of Node's error about the first file that it cannot load.
import { existsSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

const inRoot = (name) => new URL(`../../${name}`, import.meta.url);

const { engines } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'));
const required = Number(/\d+/.exec(engines.node)[0]);

// npm writes this file last.
if (!existsSync(inRoot('node_modules/.package-lock.json'))) {
  process.stderr.write('the dependencies are not installed: run make start, which installs them, or npm ci\n');
  process.exit(1);
}
if (Number(process.versions.node.split('.', 1)[0]) < required) {
  process.stderr.write(
    `this needs Node ${required} and was run with Node ${process.versions.node}: ` +
      'run it with npm run or make, which use the Node in node_modules\n',
  );
  process.exit(1);
}

// A command needs half of the processor time when its sources are compiled already. The folder is that of the Makefile:
// in a temporary one, other users could write.
module.enableCompileCache(fileURLToPath(inRoot('node_modules/.cache/node')));
