import { createServer } from 'node:http';

/** A service as a process of its own, so that a test can stop it: prints its port, and answers every request. */
const server = createServer((_request, response) => {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end('{"route":"ok"}');
});
server.listen(0, '127.0.0.1', () => process.stdout.write(String((server.address() as { port: number }).port)));
