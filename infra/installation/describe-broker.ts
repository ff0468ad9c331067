/** Describes the broker of a URL without user and password: `broker 127.0.0.1:5672`, followed by the virtual host. */
export function describeBroker(url: string): string {
  const { protocol, hostname, port, pathname } = new URL(url);
  const host = hostname === 'localhost' ? '127.0.0.1' : hostname;
  // In a malformed URL, a part of the password can end up here.
  const virtualHost = pathname.includes('@') ? '/(unreadable)' : pathname;
  return `broker ${host}:${port === '' ? (protocol === 'amqps:' ? '5671' : '5672') : port}${virtualHost}`;
}
