import { spawnSync } from 'node:child_process';
import { describe } from '@jest/globals';
import { findChromium } from './chromium.ts';
import { findRabbitMq } from './rabbitmq.ts';
import { skippedTitle, SERVER_VARIABLES } from './servers.ts';

type Suite = (title: string, suite: () => void) => void;

/** Skips the suite if a server is missing; the end of the run's output shows the number of skipped tests. */
function suiteOn(servers: Record<string, string>): Suite {
  const missing = Object.keys(servers).filter((name) => process.env[servers[name] ?? ''] === undefined);
  if (missing.length === 0) return describe;
  return (title, suite) => describe.skip(skippedTitle(title, missing), suite);
}

/** A suite that needs RabbitMQ. */
export const describeWithBroker = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl });

/** A suite that needs Redis. */
export const describeWithRedis = suiteOn({ Redis: SERVER_VARIABLES.redisUrl });

/** A suite that needs RabbitMQ and Redis. */
export const describeWithServers = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl, Redis: SERVER_VARIABLES.redisUrl });

/** A suite that starts and kills its own RabbitMQ. */
export const describeWithOwnRabbitMq: Suite =
  findRabbitMq() === undefined
    ? (title, suite) => describe.skip(skippedTitle(title, ['rabbitmq-server']), suite)
    : describe;

/** A suite that needs RabbitMQ and Redis, and also kills its own RabbitMQ. */
export const describeWithServersAndOwnRabbitMq: Suite =
  findRabbitMq() === undefined ? describeWithOwnRabbitMq : describeWithServers;

/** A suite that needs RabbitMQ, Redis and an installed program. */
export function describeWithServersAnd(program: string): Suite {
  const isInstalled = spawnSync(program, ['--version']).error === undefined;
  return isInstalled ? describeWithServers : (title, suite) => describe.skip(skippedTitle(title, [program]), suite);
}

/** A suite that needs RabbitMQ, Redis and Chromium. */
export const describeWithServersAndBrowser: Suite =
  findChromium() === undefined
    ? (title, suite) => describe.skip(skippedTitle(title, ['Chromium']), suite)
    : describeWithServers;
