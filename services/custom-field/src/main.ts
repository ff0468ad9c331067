import { runProcess } from '@tocsin/runtime';
import { startApp } from './app.ts';
import { customFieldConfig } from './config.ts';

await runProcess(async () => startApp(customFieldConfig(process.env)));
