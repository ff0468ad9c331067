import { withTimeout } from '@tocsin/runtime';

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
    // The image logs it a first time during its set-up.
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

/** Milliseconds. A running engine responds at once; a container may need to fetch its image first. */
const ENGINE_TIMEOUT = 3_000;
const CONTAINER_TIMEOUT = 120_000;

/** Whether this machine can run containers. */
export async function hasContainerEngine(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const available = getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
  return withTimeout(available, ENGINE_TIMEOUT, () => false);
}

/** Returns `undefined` when the container does not start, for example because the image cannot be fetched. */
export async function startContainer(name: ServerName): Promise<ContainerServer | undefined> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const { image, environment, command, port, ready, url } = IMAGES[name];
  const starting = new GenericContainer(image)
    .withEnvironment(environment)
    .withCommand([...command])
    .withExposedPorts(port)
    .withWaitStrategy(Wait.forAll([Wait.forListeningPorts(), Wait.forLogMessage(ready.message, ready.times)]))
    .withStartupTimeout(CONTAINER_TIMEOUT)
    .start();
  const container = await withTimeout(
    starting.catch(() => undefined),
    CONTAINER_TIMEOUT,
    () => undefined,
  );
  if (container === undefined) return undefined;
  return {
    url: url(`${container.getHost()}:${container.getMappedPort(port)}`),
    stop: async () => {
      await container.stop();
    },
  };
}
