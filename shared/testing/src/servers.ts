/** The real servers of this run, as the global set-up found or started them. */
export interface TestServers {
  /** May create databases, roles and schemas. */
  databaseUrl: string;
  amqpUrl: string | undefined;
  redisUrl: string | undefined;
  /** Begins the names of all that this run creates on servers that others use too. */
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

/** The title of a suite that is skipped for want of servers, and how to know one. */
export const needing = (title: string, servers: readonly string[]) => `${title} [needs ${servers.join(' and ')}]`;
export const isNeeding = (title: string) => /\[needs [\w -]+\]$/.test(title);
