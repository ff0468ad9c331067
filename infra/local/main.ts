import { runProcess } from '@tocsin/runtime';
import { environment } from '../environment.ts';
import { startLocal } from './app.ts';
import { localConfig } from './config.ts';

await runProcess(async () => {
  const env = environment();
  const app = await startLocal(localConfig(env), env);
  console.log(`ready ${app.url}`);
  return app;
});
