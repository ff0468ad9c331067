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
      const { baseUrl, token, curl, error } = await createDemo(app);
      if (error !== undefined) console.error(`cannot create all sample data: ${error}`);
      console.log(`sample workspace  ${baseUrl}\ntoken             ${token}\n\n${curl}\n`);
    }
    console.log(
      `data in ${displayPath(app.dataDir.path)}, log in ${displayPath(app.logFile)}; Ctrl-C stops everything`,
    );
    console.log(`ready ${app.url}`);
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
