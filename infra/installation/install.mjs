// Installs the packages, and says how far it is. Plain JavaScript for any version of Node: the packages are not there yet.
// With the argument `run`, only those that the product needs are installed, a third of all, unless all are there already:
// who tries the product waits less. Without it, those of the tests are added to them; a running product keeps its files.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Milliseconds between two lines. */
const INTERVAL = 5_000;
/** The width of the names of steps in infra/embedded/steps.ts. */
const NAME_WIDTH = 14;
/** npm looks every package up before it fetches it. */
const ANSWER = /^npm http fetch GET 200 \S+?(\.tgz)? /;

/** The workspaces that run, with the tools that build the console. */
const RUNNING = ['gateway', 'services', 'shared/tracing', 'infra'].flatMap((name) => ['--workspace', name]);

/** The modification of a file; 0: there is none. */
const modifiedAt = (path) => statSync(ROOT + path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
// npm writes the hidden lock file last.
const isUpToDate = modifiedAt('node_modules/.package-lock.json') > modifiedAt('package-lock.json');
const isWhole = existsSync(`${ROOT}node_modules/jest`);
const isForRunning = process.argv[2] === 'run' && !isWhole;
if (isUpToDate && (isForRunning || isWhole)) process.exit();
// `npm ci` begins with an empty folder.
const command = isUpToDate ? ['install', '--no-save'] : ['ci', ...(isForRunning ? RUNNING : [])];

const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8'));
/** Whether a package is for this system, by a list such as `["linux"]` or `["!win32"]`. */
const fits = (list, name) =>
  list === undefined ||
  list.includes(name) ||
  (list.every((each) => each.startsWith('!')) && !list.includes(`!${name}`));
const total = Object.entries(packages).filter(
  ([path, { link, os, cpu }]) =>
    path.includes('node_modules/') && !link && fits(os, process.platform) && fits(cpu, process.arch),
).length;

const startedAt = performance.now();
const elapsed = () => (performance.now() - startedAt) / 1_000;
const print = (text) => process.stdout.write(`${'packages'.padEnd(NAME_WIDTH)}${text}\n`);

let lookedUp = 0;
let fetched = 0;
const errors = [];
print(
  isForRunning ? 'installing those that run' : `installing up to ${total}, which takes a minute or two the first time`,
);
const timer = setInterval(() => {
  print(`${lookedUp} found, ${fetched} fetched, ${elapsed().toFixed(0)} s ...`);
}, INTERVAL);

// npm's own progress bar needs a terminal; its log says what it has fetched.
const npm = spawn('npm', [...command, '--loglevel=http', '--no-color', '--no-progress'], {
  cwd: ROOT,
  stdio: ['ignore', 'ignore', 'pipe'],
});
createInterface(npm.stderr).on('line', (line) => {
  const answer = ANSWER.exec(line);
  if (answer?.[1] !== undefined) fetched += 1;
  else if (answer !== null) lookedUp += 1;
  else if (line.startsWith('npm error')) errors.push(line);
});
npm.on('error', (error) => {
  clearInterval(timer);
  process.stderr.write(`cannot run npm: ${error.message}\n`);
  process.exitCode = 1;
});
npm.on('close', (code) => {
  clearInterval(timer);
  if (code === 0) print(`${elapsed().toFixed(1)} s`);
  else {
    process.stderr.write(`${errors.join('\n')}\nthe dependencies were not installed\n`);
    process.exitCode = 1;
  }
});
