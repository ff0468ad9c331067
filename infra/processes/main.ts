/**
 * `processes` is `make services`: each app as one or several processes, on the servers that the environment names.
 * `app.ts` takes the lock of the data folder, checks ports and the users of broker and Redis, migrates, finds or makes
 * the secret keys, and starts the services and then the gateways, which stop first; each process has to become ready. A
 * process gets the settings, the database role and the keys of its app, and no others (`child-environment.ts`).
 * `supervised-app.ts` starts a process again that has ended, on its port, after a delay that grows. When this process
 * dies, its channel to the others closes, and they stop by themselves. Several processes of an app drain first, so one
 * can be replaced without a failed request.
 */
import { runProcess } from '@tocsin/runtime';
import { buildConsole } from '../console/build-console.ts';
import { createDemo } from '../demo/create-demo.ts';
import { endBlock } from '../demo/end-block.ts';
import { environment } from '../installation/environment.ts';
import { stepPrinter } from '../embedded/steps.ts';
import { describeDatabase } from '../migrate/describe-database.ts';
import { startLocal } from './app.ts';
import { localConfig } from './config.ts';

await runProcess(async () => {
  const env = environment();
  const config = localConfig(env);
  const step = stepPrinter(console.log);
  // Before the gateway starts, which reads it once.
  await step('console', buildConsole);
  const app = await startLocal({ config, env, step });
  try {
    const options = { ...app, tokenFile: 'services-demo-token', onlyIfEmpty: true };
    const demo = config.demo ? await step('demo data', async () => createDemo(options)) : undefined;
    if (demo?.error !== undefined) console.error(`cannot create all sample data: ${demo.error}`);
    const notes = [`data in ${describeDatabase(config.servers.DATABASE_URL)}`];
    const { gatewayUrls, metrics } = app;
    if (metrics !== undefined) notes.push(`metrics of all apps: ${metrics}`);
    if (gatewayUrls.length > 1) notes.push(`gateways for a load balancer: ${gatewayUrls.join(', ')}`);
    console.log(endBlock({ url: app.url, demo, env: app.env, notes }));
    return app;
  } catch (error) {
    await app.stop();
    throw error;
  }
});
