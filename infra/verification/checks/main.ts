/**
 * `npm run check` runs every script of package.json whose name begins with `check:`, two at a time. A failure does not
 * stop the others. The output of a script is printed when it fails.
 */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { ROOT } from '../../installation/environment.ts';

const AT_ONCE = 2;

async function run(script: string): Promise<boolean> {
  const started = performance.now();
  const child = spawn('npm', ['run', '--silent', script], { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise: exit, resolve, reject } = Promise.withResolvers<number | null>();
  child.once('error', reject).once('close', resolve);
  const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  console.log(`${code === 0 ? 'passed' : 'FAILED'}  ${script}  ${seconds} s`);
  if (code !== 0) process.stdout.write(stdout + stderr);
  return code === 0;
}

const { scripts } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Record<string, string>;
};
const checks = Object.keys(scripts).filter((name) => name.startsWith('check:'));
const waiting = [...checks];
let passed = 0;

async function work(): Promise<void> {
  for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
    if (await run(script)) passed += 1;
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, work));
console.log(`${passed} of ${checks.length} checks passed`);
if (passed < checks.length) process.exitCode = 1;
