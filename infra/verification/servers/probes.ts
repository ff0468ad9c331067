import net from 'node:net';
import { connect } from 'amqplib';
import pg from 'pg';

/** Milliseconds; a server on this machine responds within a few. */
const TIMEOUT = 2_000;

/** Whether tests may create databases and roles on this server, and open this number of connections. */
export async function isUsablePostgres(url: string, connections: number): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: TIMEOUT });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rowCount } = await client.query(
      `select 1 from pg_roles where rolname = current_user and (rolsuper or (rolcreatedb and rolcreaterole))
       and current_setting('max_connections')::int >= $1`,
      [connections],
    );
    return rowCount === 1;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function isUsableRabbitMq(url: string): Promise<boolean> {
  try {
    const connection = await connect(url, { timeout: TIMEOUT });
    connection.on('error', () => undefined);
    await connection.close();
    return true;
  } catch {
    return false;
  }
}

export async function isUsableRedis(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = net.connect({ host: hostname, port: Number(port), timeout: TIMEOUT });
  socket.once('connect', () => socket.write('PING\r\n'));
  socket.once('data', (answer) => resolve(answer.toString().startsWith('+PONG')));
  for (const event of ['error', 'timeout', 'close']) socket.once(event, () => resolve(false));
  return promise.finally(() => socket.destroy());
}
