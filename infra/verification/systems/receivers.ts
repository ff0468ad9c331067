import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { behave, startReceiver } from '@tocsin/testing';
import type { ReceiverPath } from '../attacks/attack.ts';
import { RECEIVER_ADDRESSES } from './receiver-urls.ts';

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

/** The receivers of webhooks and the servers of documents that attacks use. */
export interface Receivers {
  port: number;
  /** Makes the apps trust the receivers and accept their addresses. */
  settings: Record<string, string>;
  stop(): Promise<void>;
}

export async function startReceivers(folder: string): Promise<Receivers> {
  const addresses = Object.values(RECEIVER_ADDRESSES);
  const receiver = await startReceiver({ names: addresses, host: '0.0.0.0' });
  receiver.respond = ({ path: requested }) => BEHAVIOURS[requested as ReceiverPath];
  const certificate = path.join(folder, 'receivers.pem');
  await writeFile(certificate, receiver.ca);
  return {
    port: receiver.port,
    settings: {
      WEBHOOK_TEST_RECEIVERS: addresses.map((address) => `${address}:${receiver.port}`).join(','),
      NODE_EXTRA_CA_CERTS: certificate,
    },
    stop: receiver.stop,
  };
}
