import http from 'node:http';
import { UsageError } from './operation-parameters.ts';
import type { Session } from './session.ts';

/** What is on this machine is reached directly. */
const OWN = ['localhost', '127.0.0.1', '::1'];

/**
 * Sends all requests with https through the proxy of `HTTPS_PROXY`, except to the hosts of `NO_PROXY`.
 * @throws UsageError
 */
export function useProxy({ env, stderr }: Pick<Session, 'env' | 'stderr'>): void {
  const given = env['https_proxy'] ?? env['HTTPS_PROXY'] ?? '';
  const direct = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').split(/[\s,]+/);
  if (given === '' || direct.includes('*')) return;
  const url = URL.parse(given.includes('://') ? given : `http://${given}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(
      'HTTPS_PROXY: must be the URL of a proxy, such as http://user:password@proxy.example.com:3128',
    );
  // It came with Node 24.14.
  if ((http as Partial<typeof http>).setGlobalProxyFromEnv === undefined) {
    stderr.write(`warning: HTTPS_PROXY needs Node 24.14 or later, and has no effect in ${process.version}\n`);
    return;
  }
  // Node would send what is plain HTTP through it.
  delete process.env['HTTP_PROXY'];
  delete process.env['http_proxy'];
  http.setGlobalProxyFromEnv({ https_proxy: url.href, no_proxy: [...direct, ...OWN].join(',') });
}
