/**
 * `console` builds the page of `gateway/console`, for `npm run build:console` and before each local start. It does
 * nothing if the built files are of the same sources and package versions, by their digest, or where Vite is not
 * installed, because an image has the built files. It builds into a folder of its own, and then renames it: a gateway
 * may be reading the old files, and another process may build at the same time. If that one is faster with the same
 * sources, its files are taken. A build that fails leaves the old files as they were. The console itself uses only the
 * public API (ADR 62).
 */
import { buildConsole } from './build-console.ts';

await buildConsole();
