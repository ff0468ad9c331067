import { once } from 'node:events';
import { Writable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { joinWrites } from '../src/join-writes.ts';

test('what is written in one turn is sent together, and all of it before the end', async () => {
  const sent: string[] = [];
  const stream = new Writable({
    writev: (chunks, done) => {
      sent.push(chunks.map(({ chunk }) => String(chunk)).join(''));
      done();
    },
  });
  joinWrites(stream);
  stream.write('a');
  stream.write('b');
  await new Promise((resolve) => setImmediate(resolve));
  stream.write('c');
  stream.end('d');
  await once(stream, 'finish');
  expect(sent).toEqual(['ab', 'cd']);
});
