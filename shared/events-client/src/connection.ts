import type { Socket } from 'node:net';
import { type ChannelModel, connect } from 'amqplib';
import { within } from './backoff.ts';

/** The URL of the broker, the URLs of the nodes of a cluster, or a function that opens a new connection, which the consumer closes. */
export type Connection = string | readonly string[] | (() => Promise<ChannelModel>);

/** Milliseconds until TCP and TLS are connected. */
const CONNECT_TIMEOUT = 5_000;
/** Milliseconds until a connection is open, for functions that have no limit of their own. */
const OPEN_TIMEOUT = 30_000;
/** Milliseconds for the broker to confirm that a connection is closed. */
const CLOSE_TIMEOUT = 3_000;
/** Seconds; detects a dead peer within twenty. */
const HEARTBEAT = '10';

/**
 * Returns a function that opens a connection, and closes one that is open too late.
 * @param name the connection's name in RabbitMQ's lists
 * @throws TypeError if a URL is not valid; the error does not contain the URL, which may have a password
 */
export function connector(connection: Connection, name: string): () => Promise<ChannelModel> {
  const open = typeof connection === 'function' ? connection : urlConnector([connection].flat(), name);
  return async () => {
    const opening = Promise.resolve().then(open);
    return within(opening, OPEN_TIMEOUT, () => {
      opening.then(destroy, () => undefined);
      throw new Error('the connection was not open within 30 seconds');
    });
  };
}

function urlConnector(nodes: readonly string[], name: string): () => Promise<ChannelModel> {
  const urls = nodes.map((node) => (URL.canParse(node) ? new URL(node) : undefined));
  if (urls.length === 0 || !urls.every((url) => url !== undefined && /^amqps?:$/.test(url.protocol))) {
    throw new TypeError(
      'connection must be a URL with amqp:// or amqps://, a list of them, or a function that opens a connection',
    );
  }
  for (const url of urls)
    if (url?.searchParams.has('heartbeat') === false) url.searchParams.set('heartbeat', HEARTBEAT);
  let node = 0;
  return async () => {
    try {
      return await connect(urls[node]?.href ?? '', {
        timeout: CONNECT_TIMEOUT,
        clientProperties: { connection_name: name },
      });
    } catch (error) {
      // The next attempt is at the next one.
      node = (node + 1) % urls.length;
      throw error;
    }
  };
}

/** Closes a connection in any state. Closing a lost connection would never finish without the limit. */
export async function closeConnection(connection: ChannelModel): Promise<void> {
  try {
    await within(connection.close(), CLOSE_TIMEOUT, () => destroy(connection));
  } catch {
    // It was closed already.
  }
}

/** Ends a connection without AMQP's closing handshake, to which a hanging broker would not respond. */
export function destroy(model: ChannelModel): void {
  const { connection } = model;
  // Without a listener the error would be an uncaught exception.
  model.on('error', () => undefined);
  // With an error, because otherwise pending calls on the connection would never settle.
  (connection as typeof connection & { stream?: Socket }).stream?.destroy(new Error('the connection was destroyed'));
}
