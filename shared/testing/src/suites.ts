import { describe } from '@jest/globals';
import { findRabbitMq } from './rabbitmq.ts';
import { needing, SERVER_VARIABLES } from './servers.ts';

type Suite = (title: string, suite: () => void) => void;

/** On a machine without the servers a suite is skipped, and the run's last lines say so. */
function suiteOn(servers: Record<string, string>): Suite {
  const missing = Object.keys(servers).filter((name) => process.env[servers[name] ?? ''] === undefined);
  if (missing.length === 0) return describe;
  return (title, suite) => describe.skip(needing(title, missing), suite);
}

/** A suite on a real RabbitMQ. */
export const describeWithBroker = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl });

/** A suite on a real Redis. */
export const describeWithRedis = suiteOn({ Redis: SERVER_VARIABLES.redisUrl });

/** A suite on both. */
export const describeWithServers = suiteOn({ RabbitMQ: SERVER_VARIABLES.amqpUrl, Redis: SERVER_VARIABLES.redisUrl });

/** A suite that starts and kills a RabbitMQ of its own. */
export const describeWithOwnRabbitMq: Suite =
  findRabbitMq() === undefined ? (title, suite) => describe.skip(needing(title, ['rabbitmq-server']), suite) : describe;

/** A suite on real servers that kills a RabbitMQ of its own. */
export const describeWithServersToKill: Suite =
  findRabbitMq() === undefined ? describeWithOwnRabbitMq : describeWithServers;
