import { chmod, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startRabbitMq, tcpProxy, testServers } from '@tocsin/testing';
import { startPostgres } from '../../embedded/postgres.ts';
import { startParts } from '../../embedded/start-parts.ts';
import { localHarness } from '../systems/local-harness.ts';
import { startTestedApps } from './tested-apps.ts';

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
    closing.push(postgres.stop, broker.remove);
    const proxies = {
      database: await tcpProxy(postgres.url.replace(/\/postgres$/, '/tocsin')),
      broker: await tcpProxy(broker.url),
      redis: await tcpProxy(testServers().redisUrl ?? ''),
    };
    for (const proxy of Object.values(proxies)) closing.push(proxy.close);
    const stepClocks = async (milliseconds: number) => writeFile(inFolder('clock'), String(milliseconds));
    await stepClocks(0);
    const apps = await startTestedApps(harness, replicas, {
      DATABASE_URL: proxies.database.url,
      AMQP_URL: proxies.broker.url,
      REDIS_URL: proxies.redis.url,
      NODE_OPTIONS: `--import=${STEPPED_CLOCK}?${encodeURIComponent(inFolder('clock'))}`,
    });
    closing.push(apps.stop);
    return {
      ...apps,
      broker,
      proxies,
      /** How far the clocks of all apps are ahead of the right time, from a moment later on. */
      stepClocks,
      stop,
      killPostgres: async () => {
        const [pid] = (await readFile(path.join(files.folder, 'postmaster.pid'), 'utf8')).split('\n');
        process.kill(Number(pid), 'SIGKILL');
      },
    };
  });
