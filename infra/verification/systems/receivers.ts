import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { behave, type Receiver, startReceiver } from '@tocsin/testing';
import { DEAD_ADDRESSES, RECEIVER_ADDRESSES, type ReceiverPath } from './receiver-urls.ts';

/** How the receiver responds, by path. */
const BEHAVIOURS: Readonly<Record<ReceiverPath, behave.Behaviour>> = {
  '/hang': behave.hang(),
  '/slow': behave.slowBody(),
  '/endless': behave.endlessBody(),
  '/headers': behave.hugeHeaders(),
  '/trickle': trickle,
  '/accept': behave.answer(204),
  '/events': behave.answer(200, { 'Content-Type': 'application/json' }, documentOf(500)),
};

/** Milliseconds between the bytes of a document. */
const TRICKLE_INTERVAL = 100;

/** A document of an accepted type that arrives byte by byte. */
function trickle(response: Parameters<behave.Behaviour>[0]): void {
  response.writeHead(200, { 'Content-Type': 'text/csv' });
  const timer = setInterval(() => response.write('x'), TRICKLE_INTERVAL);
  response.once('close', () => clearInterval(timer));
}

/** A document with this many events. */
function documentOf(count: number): string {
  const events = Array.from({ length: count }, (_, index) => ({
    at: new Date(Date.UTC(2026, 0, 1) + 1_000 * index).toISOString(),
    title: `Event ${index}`,
    body: 'What happened',
  }));
  return JSON.stringify({ events });
}

/** A receiver of webhooks on several loopback addresses, for apps that run as processes. */
export interface TrustedReceiver {
  receiver: Receiver;
  /** Make the apps trust its certificate and accept its addresses. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

async function startTrustedReceiver(addresses: readonly string[]): Promise<TrustedReceiver> {
  const receiver = await startReceiver({ names: addresses, host: '0.0.0.0' });
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-receiver-'));
  const certificate = path.join(folder, 'receiver.pem');
  await writeFile(certificate, receiver.ca);
  return {
    receiver,
    settings: {
      WEBHOOK_TEST_RECEIVERS: addresses.map((address) => `${address}:${receiver.port}`).join(','),
      NODE_EXTRA_CA_CERTS: certificate,
    },
    stop: async () => {
      await receiver.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Starts the receivers of webhooks and the servers of documents that attacks use. */
export async function startHostileReceivers(): Promise<TrustedReceiver> {
  const started = await startTrustedReceiver([...Object.values(RECEIVER_ADDRESSES), ...DEAD_ADDRESSES]);
  started.receiver.respond = ({ path: requested }) => BEHAVIOURS[requested as ReceiverPath];
  return started;
}
