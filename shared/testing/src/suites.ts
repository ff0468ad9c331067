import { spawnSync } from 'node:child_process';
import { afterAll, afterEach, describe } from '@jest/globals';
import { findChromium } from './chromium.ts';
import { isInstalled } from './is-installed.ts';
import { keepsStatements, TRANSACTION_PGBOUNCER } from './pgbouncer.ts';
import { findRabbitMq } from './rabbitmq.ts';
import { skippedTitle, SERVER_VARIABLES } from './servers.ts';

/** Returns a function for what a test opens, which closes it after the test: first what was opened last. */
export function closedAfterEach() {
  const opened: { close(): unknown }[] = [];
  afterEach(async () => {
    for (const resource of opened.splice(0).reverse()) await resource.close();
  });
  return <Resource extends { close(): unknown }>(resource: Resource): Resource => {
    opened.push(resource);
    return resource;
  };
}

type Suite = (title: string, suite: () => void) => void;

/** Skips the suite, because these are missing; the end of the run's output shows the number of skipped tests. */
const skipWithout =
  (...missing: string[]): Suite =>
  (title, suite) =>
    describe.skip(skippedTitle(title, missing), suite);

function suiteOn(servers: Record<string, string>): Suite {
  const missing = Object.keys(servers).filter((name) => process.env[servers[name] ?? ''] === undefined);
  return missing.length === 0 ? describe : skipWithout(...missing);
}

/** A suite that needs RabbitMQ. */
export const describeWithBroker = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl });

/** A suite that needs Redis. */
export const describeWithRedis = suiteOn({ Redis: SERVER_VARIABLES.redisUrl });

/** A suite that needs RabbitMQ and Redis. */
export const describeWithServers = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl, Redis: SERVER_VARIABLES.redisUrl });

/** A suite that starts and kills its own RabbitMQ. */
export const describeWithOwnRabbitMq: Suite = findRabbitMq() === undefined ? skipWithout('rabbitmq-server') : describe;

/** A suite that needs RabbitMQ and Redis, and also kills its own RabbitMQ. */
export const describeWithServersAndOwnRabbitMq: Suite =
  findRabbitMq() === undefined ? describeWithOwnRabbitMq : describeWithServers;

/** A suite that needs an installed program. */
export const describeWithProgram = (program: string): Suite => (isInstalled(program) ? describe : skipWithout(program));

/** A suite that needs a PgBouncer with prepared statements. */
export const describeWithTransactionPooler: Suite = keepsStatements(TRANSACTION_PGBOUNCER)
  ? describe
  : skipWithout('a PgBouncer that keeps prepared statements');

/** A suite that needs a Docker engine that runs. */
export const describeWithDocker: Suite = (title, suite) =>
  (spawnSync('docker', ['info']).status === 0 ? describe : skipWithout('docker'))(title, suite);

/** A suite that is skipped if something is missing: these. */
export const describeWithout = (...missing: string[]): Suite =>
  missing.length === 0 ? describe : skipWithout(...missing);

/** A suite that needs RabbitMQ, Redis and installed programs. */
export const describeWithServersAnd = (...programs: string[]): Suite => {
  const missing = programs.filter((program) => !isInstalled(program));
  return missing.length === 0 ? describeWithServers : skipWithout(...missing);
};

/** A suite that needs RabbitMQ, Redis and Chromium. */
export const describeWithServersAndBrowser: Suite =
  findChromium() === undefined ? skipWithout('Chromium') : describeWithServers;

/** Stops what a test file starts at its top, after the tests of the file; what was started first stops first. */
export function stopAfterAll<Started extends { stop(): Promise<unknown> }>(started: Started): Started {
  afterAll(async () => started.stop());
  return started;
}
