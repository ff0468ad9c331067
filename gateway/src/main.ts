import { runProcess } from '@tocsin/runtime';
import { startApp } from './app.ts';
import { gatewayConfig } from './config.ts';

await runProcess(async () => startApp(gatewayConfig(process.env)));
