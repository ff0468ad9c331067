import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Receiver } from '@tocsin/testing';

/** One address for each workspace with a webhook: the limits of an address apply to all that send to it. */
export const RECEIVERS = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);

/** Settings with which the apps send to the receiver and trust its certificate. */
export async function receiverSettings(
  receiver: Receiver,
): Promise<{ settings: Record<string, string>; remove: () => Promise<void> }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tocsin-bench-'));
  const certificate = path.join(folder, 'receiver.pem');
  await writeFile(certificate, receiver.ca);
  return {
    settings: {
      WEBHOOK_TEST_RECEIVERS: RECEIVERS.map((address) => `${address}:${receiver.port}`).join(','),
      NODE_EXTRA_CA_CERTS: certificate,
    },
    remove: async () => rm(folder, { recursive: true, force: true }),
  };
}
