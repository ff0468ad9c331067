import { createInterface } from 'node:readline/promises';
import { type Environment } from '@tocsin/runtime';
import { runScript } from '../installation/run-script.ts';
import { dataDirPath } from '../installation/data-dir.ts';
import { environment } from '../installation/environment.ts';
import { resetData } from './reset-data.ts';

await runScript(async () => {
  const env = environment();
  const folder = dataDirPath(env);
  if (await isConfirmed(folder, env)) {
    const remaining = await resetData(folder);
    console.log(
      remaining.length === 0
        ? `removed ${folder}`
        : `removed the data in ${folder}; kept the folder, because it contains other files: ${remaining.join(', ')}`,
    );
  } else {
    console.error('nothing was removed');
    process.exitCode = 1;
  }
});

/** @throws Error without a terminal, where nobody can be asked */
async function isConfirmed(folder: string, env: Environment): Promise<boolean> {
  if (env['FORCE'] === '1') return true;
  if (!process.stdin.isTTY) {
    throw new Error(`this removes all data in ${folder}, and there is no terminal to confirm it: make reset FORCE=1`);
  }
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  // Ctrl-C and the end of the input are no confirmation.
  const closed = new Promise<string>((resolve) => terminal.once('close', () => resolve('')));
  const answer = await Promise.race([terminal.question(`Remove all data in ${folder}? Type yes: `), closed]);
  terminal.close();
  return answer.trim() === 'yes';
}
