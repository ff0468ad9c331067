import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import net from 'node:net';
import type { Duplex } from 'node:stream';
import { createCertificate } from './certificate.ts';
import { loopbackServer } from './loopback-server.ts';

/** A proxy for `CONNECT`, which resolves names by its own map. */
export interface ConnectProxy {
  url: string;
  /** The certificate that clients of an https proxy must trust. */
  ca: string;
  /** What it was asked for, in order. */
  requests: { target: string; authorization: string | undefined }[];
  /** The ports on this machine by `host:port`. Any other target is 502. */
  targets: Map<string, number>;
  /** Answers all requests with this status, or never if it is `silence`; undefined: connects. */
  refusal: number | 'silence' | undefined;
  stop(): Promise<void>;
}

export async function startConnectProxy({ secure = false }: { secure?: boolean } = {}): Promise<ConnectProxy> {
  const certificate = await createCertificate(['localhost', '127.0.0.1']);
  const server = secure ? createHttpsServer(certificate) : createHttpServer();
  const upstreams = new Set<net.Socket>();
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    const target = request.url ?? '';
    proxy.requests.push({ target, authorization: request.headers['proxy-authorization'] });
    client.on('error', () => undefined);
    if (proxy.refusal === 'silence') return;
    const port = proxy.targets.get(target);
    const status = proxy.refusal ?? (port === undefined ? 502 : undefined);
    if (status !== undefined || port === undefined) {
      client.end(`HTTP/1.1 ${status} Refused\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    const upstream = net.connect({ host: '127.0.0.1', port });
    upstreams.add(upstream);
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    upstream.once('close', () => client.destroy());
    client.once('close', () => upstream.destroy());
    upstream.once('close', () => upstreams.delete(upstream));
  });
  const { port, close } = await loopbackServer(server);
  const proxy: ConnectProxy = {
    url: `${secure ? 'https' : 'http'}://localhost:${port}`,
    ca: certificate.cert,
    requests: [],
    targets: new Map(),
    refusal: undefined,
    stop: async () => {
      for (const upstream of upstreams) upstream.destroy();
      await close();
    },
  };
  return proxy;
}
