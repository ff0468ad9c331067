import { urlsOfHosts } from '@tocsin/runtime';

/** Describes the broker of a URL without user and password: `broker 127.0.0.1:5672`, followed by the virtual host. */
export function describeBroker(url: string): string {
  const nodes = urlsOfHosts(url).map((each) => new URL(each));
  const pathname = nodes[0]?.pathname ?? '';
  // In a malformed URL, a part of the password can end up here.
  const virtualHost = pathname.includes('@') ? '/(unreadable)' : pathname;
  return `broker ${nodes.map(serverOf).join(', ')}${virtualHost}`;
}

function serverOf({ protocol, hostname, port }: URL): string {
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname;
  return `${host}:${port === '' ? (protocol === 'amqps:' ? '5671' : '5672') : port}`;
}

/** Describes the Redis of a URL without user and password, or its Sentinels. */
export function describeRedis(url: string): string {
  const nodes = urlsOfHosts(url).map((each) => new URL(each));
  const isSentinel = nodes[0]?.protocol.includes('sentinel') === true;
  const servers = nodes.map(({ hostname, port }) => `${hostname}:${port || (isSentinel ? '26379' : '6379')}`);
  return `${isSentinel ? 'the Redis of the Sentinels' : 'Redis'} ${servers.join(', ')}`;
}
