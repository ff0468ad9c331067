import path from 'node:path';
import { runProcess } from '@tocsin/runtime';
import { createDemo } from '../demo/create-demo.ts';
import { environment, ROOT } from '../environment.ts';
import { startEmbedded } from './app.ts';
import { embeddedConfig } from './config.ts';

await runProcess(async () => {
  const env = environment();
  const config = embeddedConfig(env);
  const app = await startEmbedded(config, env);
  try {
    if (config.demo) {
      const { baseUrl, token, curl, fault } = await createDemo(app);
      if (fault !== undefined) console.error(`not all of the sample data could be made: ${fault}`);
      console.log(`demo workspace  ${baseUrl}\ntoken           ${token}\n\n${curl}\n`);
    }
    console.log(`data in ${shown(app.dataDir.path)}, log in ${shown(app.logFile)}; Ctrl-C stops everything`);
    console.log(`ready ${app.url}`);
    return app;
  } catch (error) {
    await app.stop();
    throw error;
  }
});

/** As one would type it. */
function shown(file: string): string {
  const relative = path.relative(ROOT, file);
  return relative.startsWith('..') ? file : relative;
}
