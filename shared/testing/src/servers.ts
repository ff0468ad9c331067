/** The servers of this run, found or started by the global set-up. */
export interface TestServers {
  /** With the privilege to create databases, roles and schemas. */
  databaseUrl: string;
  amqpUrl: string | undefined;
  redisUrl: string | undefined;
  /** Prefix for the names of everything that this run creates on shared servers. */
  runId: string;
}

export const SERVER_VARIABLES = {
  databaseUrl: 'TOCSIN_TEST_DATABASE_URL',
  amqpUrl: 'TOCSIN_TEST_AMQP_URL',
  redisUrl: 'TOCSIN_TEST_REDIS_URL',
  runId: 'TOCSIN_TEST_RUN_ID',
} as const;

export function testServers(): TestServers {
  const read = (name: keyof typeof SERVER_VARIABLES) => process.env[SERVER_VARIABLES[name]];
  const databaseUrl = read('databaseUrl');
  const runId = read('runId');
  if (databaseUrl === undefined || runId === undefined) throw new Error('the global set-up did not run');
  return { databaseUrl, runId, amqpUrl: read('amqpUrl'), redisUrl: read('redisUrl') };
}

/** The title of a suite that is skipped because servers or programs are missing. */
export const skippedTitle = (title: string, servers: readonly string[]) => `${title} [needs ${servers.join(' and ')}]`;
/** Recognises the titles of `skippedTitle`. */
export const isSkippedTitle = (title: string) => /\[needs [\w -]+\]$/.test(title);
