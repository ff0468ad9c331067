/**
 * `embedded` is `make start`, and a target of the image: all apps in one process, and a PostgreSQL from an npm package.
 * `app.ts` takes the lock of the data folder, opens the log, finds or makes the secret keys, starts PostgreSQL,
 * migrates, and starts the services and then the gateway, which stops first. Broker, versions and request counts are in
 * memory, and the outboxes in the database, so a crash loses nothing (contract: Events on the broker). PostgreSQL
 * starts again if it ends by itself, is stopped when this process dies, and one that has outlived its process is
 * stopped by the next start. A start that fails closes what it has opened (`start-parts.ts`). `reset.ts` removes the
 * files of an instance, and no others.
 */
import path from 'node:path';
import { runProcess } from '@tocsin/runtime';
import { buildConsole } from '../console/build-console.ts';
import { createDemo } from '../demo/create-demo.ts';
import { endBlock } from '../demo/end-block.ts';
import { environment, ROOT } from '../installation/environment.ts';
import { stepPrinter } from './steps.ts';
import { startEmbedded } from './app.ts';
import { embeddedConfig } from './config.ts';

await runProcess(async () => {
  const env = environment();
  const config = embeddedConfig(env);
  const step = stepPrinter(console.log);
  // Before the gateway starts, which reads it once.
  await step('console', buildConsole);
  const app = await startEmbedded({ config, env, step });
  try {
    const options = { ...app, tokenFile: 'demo-token', onlyIfEmpty: false };
    const demo = config.demo ? await step('demo data', async () => createDemo(options)) : undefined;
    if (demo?.error !== undefined) console.error(`cannot create all sample data: ${demo.error}`);
    const notes = [`data in ${displayPath(app.dataDir.path)}, log in ${displayPath(app.logFile)}`];
    console.log(endBlock({ ...app, demo, notes }));
    return app;
  } catch (error) {
    await app.stop();
    throw error;
  }
});

/** Relative to the repository, if the file is in it. */
function displayPath(file: string): string {
  const relative = path.relative(ROOT, file);
  return relative.startsWith('..') ? file : relative;
}
