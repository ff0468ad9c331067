import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from '@jest/globals';

/** Writes a line for each line that it reads. */
const ECHO = `
  import { createInterface } from 'node:readline';
  import { createLogger } from '${path.join(import.meta.dirname, '../src/index.ts')}';
  const log = createLogger({ app: 'echo', level: 'info' });
  createInterface(process.stdin).on('line', (line) => log.info(line));`;

test('a line is written while the process lives, after a pause too', async () => {
  const child = spawn(process.execPath, ['--input-type=module-typescript', '--eval', ECHO], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const echo = async (text: string) => {
    child.stdin.write(`${text}\n`);
    const { value } = (await lines.next()) as { value: string };
    return (JSON.parse(value) as { msg: string }).msg;
  };
  expect(await echo('first')).toBe('first');
  expect(await echo('second')).toBe('second');
  // Longer than the stream is flushed without lines.
  await new Promise((resolve) => {
    setTimeout(resolve, 1_500);
  });
  expect(await echo('third')).toBe('third');
  child.stdin.end();
});
