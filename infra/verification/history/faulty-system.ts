import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  behave,
  eventually,
  httpClient,
  type Receiver,
  startRabbitMq,
  startReceiver,
  tcpProxy,
  testServers,
} from '@tocsin/testing';
import { type AppName, APPS } from '../../installation/apps.ts';
import { findInstance } from '../../installation/data-dir.ts';
import { startPostgres } from '../../embedded/postgres.ts';
import { startParts } from '../../embedded/start-parts.ts';
import { BUSY_MACHINE, localHarness } from '../systems/local-harness.ts';
import { findReplicas } from '../systems/processes.ts';
import { type Run, type RunOptions, startRun } from './run.ts';

/** A receiver gets at most ten requests a minute; there must be room for repetitions. */
export const DELIVERIES_A_MINUTE = 7;

const STEPPED_CLOCK = import.meta.resolve('./stepped-clock.ts');

export type FaultySystem = Awaited<ReturnType<typeof startFaultySystem>>;

/**
 * All apps as processes, on a database and a broker of their own, and with a proxy before each server. The clock of the
 * apps can be stepped; that of the database is right.
 */
export const startFaultySystem = async (replicas: number) =>
  startParts(async (closing, stop) => {
    const harness = await localHarness(replicas);
    closing.push(harness.remove);
    const inFolder = (name: string) => path.join(harness.folder, name);
    // As root, the database runs as another user, who must be able to enter the folder.
    await chmod(harness.folder, 0o711);
    const files = { folder: inFolder('database'), logFile: inFolder('postgres.log') };
    const postgres = await startPostgres({ ...files, password: 'test', maxConnections: 150 });
    const broker = await startRabbitMq();
    const receiver = await startReceiver();
    closing.push(postgres.stop, broker.remove, receiver.stop);
    const proxies = {
      database: await tcpProxy(postgres.url.replace(/\/postgres$/, '/tocsin')),
      broker: await tcpProxy(broker.url),
      redis: await tcpProxy(testServers().redisUrl ?? ''),
    };
    for (const proxy of Object.values(proxies)) closing.push(proxy.close);
    await writeFile(inFolder('ca.pem'), receiver.ca);
    const stepClocks = async (milliseconds: number) => writeFile(inFolder('clock'), String(milliseconds));
    await stepClocks(0);
    const command = harness.start(
      {
        ...BUSY_MACHINE,
        ...(replicas > 1 && { REPLICAS: String(replicas), DATABASE_POOL_SIZE: '4' }),
        DATABASE_URL: proxies.database.url,
        AMQP_URL: proxies.broker.url,
        REDIS_URL: proxies.redis.url,
        RATE_LIMIT_PER_MINUTE: '1000000',
        NODE_EXTRA_CA_CERTS: inFolder('ca.pem'),
        NODE_OPTIONS: `--import=${STEPPED_CLOCK}?${encodeURIComponent(inFolder('clock'))}`,
        WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
      },
      inFolder('output.log'),
    );
    closing.push(async () => {
      command.signal('SIGTERM');
      await command.ended();
    });
    await command.ready();
    return {
      broker,
      receiver,
      proxies,
      /** How far the clocks of all apps are ahead of the right time, from a moment later on. */
      stepClocks,
      stop,
      processes: async () => findReplicas(command.pid),
      /** Waits until all processes of an app are ready, and reach everything. */
      isComplete: async (app: AppName) =>
        eventually(async () => areReady(harness.folder, app), { what: `the readiness of ${app}` }),
      killPostgres: async () => {
        const [pid] = (await readFile(path.join(files.folder, 'postmaster.pid'), 'utf8')).split('\n');
        process.kill(Number(pid), 'SIGKILL');
      },
      /** Starts clients of three workspaces: a busy one, one with a webhook, and a quiet one. */
      startRun: async (
        options: Pick<RunOptions, 'seed' | 'cuts' | 'pause'> & { clients: number; mayDeclare: () => number },
      ): Promise<Run> => {
        const { clients, mayDeclare, ...others } = options;
        failSomeAttempts(receiver);
        return startRun({
          ...others,
          gateways: Array.from({ length: replicas }, (_, index) => `http://127.0.0.1:${harness.port + index}`),
          workspaces: [
            { slug: 'busy', token: await harness.workspace('busy'), clients },
            {
              ...{ slug: 'watched', token: await harness.workspace('watched'), clients: 2, mayDeclare },
              receiver: { server: receiver, url: receiver.url() },
            },
            { slug: 'quiet', token: await harness.workspace('quiet'), clients: 1, mayDeclare: () => 5 },
          ],
        });
      },
    };
  });

/** Whether all processes of an app are ready, and reach everything. */
async function areReady(folder: string, app: AppName): Promise<boolean> {
  const urls = ((await findInstance(folder))?.env[APPS[app].addressVariable] ?? '').split(',');
  const answers = await Promise.all(urls.map(async (url) => httpClient(url).get('/readyz')));
  return answers.every(({ status, body }) => {
    const { dependencies } = body as { dependencies: Record<string, string> };
    return status === 200 && Object.values(dependencies).every((state) => state === 'up');
  });
}

/** The first attempt of some deliveries fails; five in a row would pause the webhook. */
function failSomeAttempts(receiver: Receiver): void {
  const attempted = new Set<unknown>();
  receiver.respond = ({ headers, body }) => {
    const isNew = body.includes('incident.created') && !attempted.has(headers['webhook-id']);
    if (isNew) attempted.add(headers['webhook-id']);
    return behave.answer(isNew && attempted.size % 3 === 1 ? 503 : 204);
  };
}
