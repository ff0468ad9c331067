import { runProcess } from '@tocsin/runtime';
import { startApp } from './app.ts';
import { incidentConfig } from './config.ts';

await runProcess(async () => startApp(incidentConfig(process.env)));
