import { afterAll, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { eventually } from '@tocsin/testing';
import { pictureEncoder } from '../../src/pictures/clients/picture-encoder.ts';
import { aPng, plain } from './pictures.ts';

const MEBIBYTE = 1_048_576;
const encoders: ReturnType<typeof pictureEncoder>[] = [];
const encoderWith = (times: Parameters<typeof pictureEncoder>[0] = {}) => {
  const encoder = pictureEncoder(times);
  encoders.push(encoder);
  return encoder;
};
afterAll(async () => Promise.all(encoders.map(async (encoder) => encoder.stop())));

/** The processes that encode pictures, of this one. */
const workers = (): number[] =>
  execFileSync('ps', ['-o', 'pid=,args=', '--ppid', String(process.pid)])
    .toString()
    .split('\n')
    .filter((line) => line.includes('picture-worker'))
    .map((line) => Number.parseInt(line, 10));

const png = { bytes: await aPng(), format: 'png' as const };

test('a process starts with the first picture, and ends without one', async () => {
  const encoder = encoderWith({ idle: 200 });
  expect(workers()).toEqual([]);
  await encoder.encode(1, png);
  await encoder.encode(2, png);
  expect(workers()).toHaveLength(1);
  await eventually(() => workers().length === 0);
  expect(await encoder.encode(1, png)).toMatchObject({ width: 600, height: 400 });
  await encoder.stop();
  expect(workers()).toEqual([]);
});

test('a process that dies fails its picture, and no other one', async () => {
  const encoder = encoderWith();
  await encoder.encode(1, png);
  const large = encoder.encode(1, {
    bytes: await plain({ width: 7_000, height: 7_000 }).png().toBuffer(),
    format: 'png',
  });
  const refused = expect(large).rejects.toMatchObject({ code: 'invalid_request', field: 'body' });
  for (const pid of workers()) process.kill(pid, 'SIGKILL');
  await refused;
  expect(await encoder.encode(1, png)).toMatchObject({ width: 600 });
  await encoder.stop();
});

test('a picture that takes too long is given up, with its process', async () => {
  const encoder = encoderWith({ picture: 1 });
  await expect(encoder.encode(1, png)).rejects.toMatchObject({
    message: 'Takes too much time or memory to read',
  });
  await eventually(() => workers().length === 0);
});

test('a process that does not start in time fails its picture with 503, and each one starts another', async () => {
  const encoder = encoderWith({ start: 1 });
  await expect(encoder.encode(1, png)).rejects.toMatchObject({ code: 'service_unavailable' });
  await eventually(() => workers().length === 0);
  await expect(encoder.encode(1, png)).rejects.toMatchObject({ headers: { 'Retry-After': '5' } });
});

test('a picture of 49 million pixels takes less memory than the limit', async () => {
  const encoder = encoderWith();
  await encoder.encode(1, { bytes: await plain({ width: 7_000, height: 7_000 }).jpeg().toBuffer(), format: 'jpeg' });
  const [pid] = workers();
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const peak = Number(/^VmHWM:\s*(\d+) kB$/m.exec(status)?.[1]) * 1_024;
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(512 * MEBIBYTE);
  await encoder.stop();
});

test('workspaces take turns, and one that sends too many is refused', async () => {
  const encoder = encoderWith({ wait: 10_000 });
  const order: number[] = [];
  const send = async (workspaceId: number) => {
    await encoder.encode(workspaceId, png);
    order.push(workspaceId);
  };
  const many = Array.from({ length: 30 }, async () => send(1));
  const other = send(2);
  const outcomes = await Promise.allSettled(many);
  const refused = outcomes.filter(({ status }) => status === 'rejected');
  await other;
  expect(refused).toHaveLength(9);
  expect(refused[0]).toMatchObject({ reason: { code: 'service_unavailable', headers: { 'Retry-After': '5' } } });
  expect(order.indexOf(2)).toBeLessThan(4);
  await encoder.stop();
});
