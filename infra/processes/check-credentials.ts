import { connectionRefusal } from '@tocsin/messaging/amqp';
import { createLogger, Hosts, urlsOfHosts } from '@tocsin/runtime';
import { openRedis } from '@tocsin/runtime/redis';
import { connect } from 'amqplib';
import { describeBroker } from '../installation/describe-servers.ts';

/** Milliseconds. */
const TIMEOUT = 5_000;

/**
 * Checks that broker and Redis accept the users of their URLs. One that does not answer is no error: the apps run without
 * it, and connect when it is there.
 * @throws Error in one line that says what to do
 */
export async function checkCredentials({ AMQP_URL, REDIS_URL }: { AMQP_URL: string; REDIS_URL: string }) {
  await Promise.all([checkBroker(AMQP_URL), checkRedis(REDIS_URL)]);
}

async function checkBroker(url: string): Promise<void> {
  const nodes = new Hosts(urlsOfHosts(url), { isFinal: (error) => connectionRefusal(error) !== undefined });
  const connecting = nodes.connect(async (node) => connect(node, { timeout: TIMEOUT }));
  const connection = await connecting.catch((error: unknown) => {
    const refused = connectionRefusal(error);
    if (refused !== undefined) throw new Error(`AMQP_URL: the ${describeBroker(url)} refuses ${refused}: correct it`);
  });
  await connection?.close();
}

async function checkRedis(url: string): Promise<void> {
  const redis = openRedis({ url, namespace: '', log: createLogger({ app: 'start', level: 'silent' }) });
  try {
    const { promise, resolve } = Promise.withResolvers<Error | undefined>();
    redis.once('ready', () => resolve(undefined));
    redis.once('error', resolve);
    const error = await promise;
    // What the server itself answered.
    if (error?.name === 'ReplyError') {
      throw new Error(`REDIS_URL: Redis refuses the user or the password: correct it (${error.message})`);
    }
  } finally {
    redis.disconnect();
  }
}
