import { beforeAll, expect, test } from '@jest/globals';
import { behave, eventually } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { APP_NAMES, type AppName } from '../../../installation/apps.ts';
import { startFaultySystem } from '../../history/faulty-system.ts';
import type { Operation } from '../../history/history.ts';
import type { Run } from '../../history/run.ts';
import { running } from '../../systems/running.ts';

const CLIENTS = 4;
/** Those of the other workspaces. */
const OTHER_CLIENTS = 3;
/** Milliseconds between two operations of a client: processes that never rest notice late what happens to others. */
const PAUSE = 100;
/** Requests between two faults. */
const BETWEEN = 50;
/** Violations in the output of a failure. */
const SHOWN = 5;

/** What a run with these faults always meets. */
const MET = [
  ...['a replay', 'idempotency_in_progress', 'idempotency_key_reused', 'precondition_failed', 'not_found'],
  ...['an unknown outcome', 'a request that its client cut', 'a broken connection', 'service_unavailable'],
  ...['a failed poll', 'a resumed stream', 'a repeated delivery', 'a picture'],
];

describeWithServersAndOwnRabbitMq('two processes of each app', () => {
  const system = running(async () => startFaultySystem(2));
  let run: Run;
  let deliveries = 1;

  beforeAll(async () => {
    const seed = fc.readConfigureGlobal().seed ?? Date.now();
    run = await system.startRun({ seed, clients: CLIENTS, pause: PAUSE, mayDeclare: () => deliveries });
  });

  const pidsOf = async (app: AppName) => (await system.processes()).get(app) ?? [];
  /** Waits for so many further requests. */
  const requests = async (count = BETWEEN) => {
    const { operations } = run.history;
    const enough = operations.length + count;
    // If a client gives up, its error.
    await Promise.race([run.done, eventually(() => operations.length >= enough, { what: 'requests' })]);
  };
  /** Requests that the system failed to answer during `act`. */
  const failuresDuring = async (act: () => Promise<unknown>): Promise<Operation[]> => {
    const { operations } = run.history;
    const from = operations.length;
    await act();
    await requests();
    return operations.slice(from).filter(({ status = 503, isCut }) => status >= 500 && !isCut);
  };
  const works = async () => {
    for (const app of APP_NAMES) await system.isComplete(app);
  };

  test('can be restarted one after the other without a failed request', async () => {
    await works();
    const before = await system.processes();
    for (const replica of [0, 1]) {
      for (const app of APP_NAMES) {
        const pid = before.get(app)?.[replica] ?? NaN;
        if (app === 'incident' || app === 'webhook') deliveries += 1;
        const failures = await failuresDuring(async () => {
          process.kill(pid, 'SIGTERM');
          await eventually(async () => !(await pidsOf(app)).includes(pid), { what: `the end of ${app}` });
        });
        const answers = failures.map(({ method, path, status, text }) => [method, path, status, text].join(' '));
        expect([app, answers]).toEqual([app, []]);
      }
      await works();
    }
  });

  test('lose at most the writes under way when one of them is killed', async () => {
    const [pid = NaN] = await pidsOf('incident');
    const failures = await failuresDuring(async () => process.kill(pid, 'SIGKILL'));
    expect(failures.filter(({ method, status }) => method === 'GET' || status !== 503)).toEqual([]);
    expect(failures.length).toBeLessThanOrEqual(2 * (CLIENTS + OTHER_CLIENTS));
    await works();
  });

  test('need no broker for requests', async () => {
    deliveries += 1;
    await system.broker.kill();
    expect(await failuresDuring(requests)).toEqual([]);
    await system.broker.start();
    await works();
  });

  test('lose and repeat nothing when each app, the broker and the database are killed', async () => {
    for (const app of APP_NAMES) {
      deliveries += 1;
      for (const pid of await pidsOf(app)) process.kill(pid, 'SIGKILL');
      await requests();
      await works();
    }
    const before = system.receiver.requests.length;
    const { respond } = system.receiver;
    system.receiver.respond = behave.hang;
    deliveries += 1;
    await eventually(() => system.receiver.requests.length > before, { what: 'a delivery under way' });
    for (const pid of await pidsOf('webhook')) process.kill(pid, 'SIGKILL');
    system.receiver.respond = respond;
    await system.killPostgres();
    await requests();
    await works();
    await requests();

    await run.stop();
    expect((await run.finish()).slice(0, SHOWN)).toEqual([]);
    expect(run.history.met.missing(MET)).toEqual([]);
  });
});
