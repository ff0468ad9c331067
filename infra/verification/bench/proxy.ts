/**
 * What a second hop costs by itself: a process with nothing but node:http and http-proxy-middleware, which forwards every
 * request to the floor on connections that are kept. The argument is the port of the floor.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { createProxyMiddleware } from 'http-proxy-middleware';

const proxy = createProxyMiddleware({
  target: `http://127.0.0.1:${process.argv[2]}`,
  changeOrigin: true,
  agent: new http.Agent({ keepAlive: true }),
});
const server = http.createServer((request, response) => void proxy(request, response));
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once('disconnect', () => process.exit());
