import { runProcess } from '@tocsin/runtime';
import { startApp } from './app.ts';
import { webhookConfig } from './config.ts';

await runProcess(async () => startApp(webhookConfig(process.env)));
