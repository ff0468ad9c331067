import type { StartedTestContainer } from 'testcontainers';

export type ServerName = 'databaseUrl' | 'amqpUrl' | 'redisUrl';

/** A server in a container, for one test run. */
export interface ContainerServer {
  url: string;
  stop(): Promise<void>;
}

const IMAGES = {
  databaseUrl: {
    image: 'postgres:17',
    environment: { POSTGRES_PASSWORD: 'tocsin' },
    command: ['postgres', '-c', 'fsync=off', '-c', 'max_connections=300'],
    port: 5432,
    // The first time is that of the image's own set-up.
    ready: { message: /ready to accept connections/, times: 2 },
    url: (address: string) => `postgres://postgres:tocsin@${address}/postgres`,
  },
  amqpUrl: {
    image: 'rabbitmq:4',
    environment: {},
    command: [],
    port: 5672,
    ready: { message: /Server startup complete/, times: 1 },
    url: (address: string) => `amqp://guest:guest@${address}`,
  },
  redisUrl: {
    image: 'redis:7',
    environment: {},
    command: [],
    port: 6379,
    ready: { message: /Ready to accept connections/, times: 1 },
    url: (address: string) => `redis://${address}`,
  },
} as const;

/** Milliseconds. An engine that is there answers at once; a container may have to fetch its image first. */
const ENGINE_PATIENCE = 3_000;
const CONTAINER_PATIENCE = 120_000;

/** Whether containers can be run here. */
export async function hasContainerEngine(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const answer = getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  return before(answer, ENGINE_PATIENCE, false);
}

/** `undefined` when it does not come up, as on a machine that cannot fetch the image. */
export async function startContainer(name: ServerName): Promise<ContainerServer | undefined> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const { image, environment, command, port, ready, url } = IMAGES[name];
  const starting = new GenericContainer(image)
    .withEnvironment(environment)
    .withCommand([...command])
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forAll([Wait.forListeningPorts(), Wait.forLogMessage(ready.message, ready.times)]))
    .withStartupTimeout(CONTAINER_PATIENCE)
    .start();
  const container = await before<StartedTestContainer | undefined>(
    starting.catch(() => undefined),
    CONTAINER_PATIENCE,
    undefined,
  );
  if (container === undefined) return undefined;
  return {
    url: url(`${container.getHost()}:${container.getMappedPort(port)}`),
    stop: async () => {
      await container.stop();
    },
  };
}

async function before<Value>(event: Promise<Value>, patience: number, otherwise: Value): Promise<Value> {
  const { promise: late, resolve } = Promise.withResolvers<Value>();
  const timer = setTimeout(() => resolve(otherwise), patience);
  return Promise.race([event, late]).finally(() => clearTimeout(timer));
}
