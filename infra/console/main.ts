import { buildConsole } from './build-console.ts';

await buildConsole();
