import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Environment } from '@tocsin/runtime';
import { BUSY_MACHINE, behave, eventually, httpClient, type Receiver, startReceiver } from '@tocsin/testing';
import { type AppName, APPS } from '../../installation/apps.ts';
import { findInstance } from '../../installation/data-dir.ts';
import { startParts } from '../../embedded/start-parts.ts';
import type { LocalHarness } from '../systems/local-harness.ts';
import { findReplicas } from '../systems/processes.ts';
import { type Run, type RunOptions, startRun } from './run.ts';

/** A receiver gets at most ten requests a minute; there must be room for repetitions. */
export const DELIVERIES_A_MINUTE = 7;

export type TestedApps = Awaited<ReturnType<typeof startTestedApps>>;

/**
 * All apps as processes, with a receiver of webhooks, and clients of three workspaces for them.
 * @param settings name the servers
 */
export const startTestedApps = async (harness: LocalHarness, replicas: number, settings: Environment) =>
  startParts(async (closing, stop) => {
    const inFolder = (name: string) => path.join(harness.folder, name);
    const receiver = await startReceiver();
    closing.push(receiver.stop);
    await writeFile(inFolder('ca.pem'), receiver.ca);
    const command = harness.start(
      {
        ...BUSY_MACHINE,
        ...(replicas > 1 && { REPLICAS: String(replicas), DATABASE_POOL_SIZE: '4' }),
        RATE_LIMIT_PER_MINUTE: '1000000',
        NODE_EXTRA_CA_CERTS: inFolder('ca.pem'),
        WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
        ...settings,
      },
      inFolder('output.log'),
    );
    closing.push(async () => {
      command.signal('SIGTERM');
      await command.ended();
    });
    await command.ready();
    return {
      receiver,
      stop,
      processes: async () => findReplicas(command.pid),
      /** Waits until all processes of an app are ready, and reach everything. */
      isComplete: async (app: AppName) =>
        eventually(async () => areReady(harness.folder, app), { what: `the readiness of ${app}` }),
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
