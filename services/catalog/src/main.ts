import { runProcess } from '@tocsin/runtime';
import { startApp } from './app.ts';
import { catalogConfig } from './config.ts';

await runProcess(async () => startApp(catalogConfig(process.env)));
