import { execFile } from 'node:child_process';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SERVER_VARIABLES } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { SHORT_ATTACKS } from '../../attacks/registry.ts';
import type { Row } from '../../attacks/suite.ts';
import type { Mode } from '../../systems/local-harness.ts';
import { ROOT } from '../../../installation/environment.ts';

/** Milliseconds; after an attack that does harm, the suite waits for the system to recover. */
const TIMEOUT = 1_200_000;

// The attacks read /proc and use several loopback addresses.
const describeAttacks: typeof describeWithServers =
  process.platform === 'linux' ? describeWithServers : () => undefined;

describeAttacks('in the short form', () => {
  const rows = new Map<string, Row>();
  let embedded: Row | undefined;

  beforeAll(async () => {
    // At the same time, each on a system of its own: an attack waits more than it computes.
    const half = (rest: number) => SHORT_ATTACKS.map(({ name }) => name).filter((_name, index) => index % 2 === rest);
    const [even, odd, [alone]] = await Promise.all([
      runShortForm('services', half(0)),
      runShortForm('services', half(1)),
      runShortForm('embedded', ['timeline-documents']),
    ]);
    for (const row of [...even, ...odd]) rows.set(row.attack, row);
    embedded = alone;
    // A slow machine may leave too little for both halves: what only a lack of time explains is judged by itself.
    const harmful = [...rows.values()].filter((row) => {
      const failures = untimed(row);
      return failures.length > 0 && failures.every(({ rule }) => rule === 'victims' || rule === 'unavailable');
    });
    for (const row of harmful) console.warn(row.attack, 'beside another attack:', untimed(row));
    const names = harmful.map(({ attack }) => attack);
    const again = names.length > 0 ? await runShortForm('services', names) : [];
    for (const row of again) rows.set(row.attack, row);
  }, TIMEOUT);

  describe('no other workspace notices', () => {
    test.each(SHORT_ATTACKS)('$name', ({ name }) => {
      const row = rows.get(name);
      expect(row?.during.requests).toBeGreaterThan(0);
      expect(untimed(row)).toEqual([]);
    });
  });

  test('in one process, the events of others are recorded while a workspace reads documents into timelines', () => {
    expect(embedded?.during.lag).toBeGreaterThan(0);
    expect(untimed(embedded)).toEqual([]);
  });
});

/** The speed of the machine is no result of this test: `npm run attacks` judges times. */
const untimed = (row: Row | undefined) => row?.failures.filter(({ timed }) => !timed) ?? [];

async function runShortForm(mode: Mode, attacks: readonly string[]): Promise<Row[]> {
  const { promise, resolve } = Promise.withResolvers<{ stdout: string; stderr: string }>();
  const names = ['PATH', 'HOME', 'TMPDIR', 'NODE_COMPILE_CACHE', ...Object.values(SERVER_VARIABLES)];
  const env = Object.fromEntries(names.map((name) => [name, process.env[name]]));
  const child = { cwd: ROOT, env, maxBuffer: 64 * 1_048_576 };
  // It exits with 1 if a rule fails, times included.
  const only = attacks.flatMap((name) => ['--only', name]);
  const args = ['infra/verification/attacks/main.ts', '--short', '--json', '--mode', mode, ...only];
  execFile(process.execPath, args, child, (_error, stdout, stderr) => resolve({ stdout, stderr }));
  const { stdout, stderr } = await promise;
  if (!stdout.startsWith('[')) throw new Error(stderr);
  return JSON.parse(stdout) as Row[];
}
