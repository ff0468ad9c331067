/**
 * parse-server on a database of its own (DATABASE_URL), with anybody allowed everything. The argument is the folder in
 * which it is installed.
 */
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

interface ParseServer {
  start(): Promise<unknown>;
  readonly app: unknown;
}
type Express = http.RequestListener & { use(path: string, app: unknown): void };

const folder = process.argv[2] ?? '.';
// It writes logs there as soon as it is loaded.
process.chdir(folder);
const load = createRequire(path.join(folder, 'package.json'));
const { ParseServer } = load('parse-server') as {
  ParseServer: new (options: Readonly<Record<string, unknown>>) => ParseServer;
};
const server = http.createServer();
server.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address() as AddressInfo;
const parse = new ParseServer({
  databaseURI: process.env['DATABASE_URL'],
  appId: 'bench',
  masterKey: 'bench',
  serverURL: `http://127.0.0.1:${port}/parse`,
  allowClientClassCreation: true,
  logLevel: 'error',
  silent: true,
});
await parse.start();
const app = (load('express') as () => Express)();
app.use('/parse', parse.app);
server.on('request', app);
process.send?.({ port });
process.once('disconnect', () => process.exit());
