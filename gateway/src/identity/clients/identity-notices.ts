import type { Logger } from '@tocsin/runtime';
import { openRedis, type Redis } from '@tocsin/runtime/redis';
import type { ServiceClient } from '@tocsin/service-host';

interface Place {
  redisUrl: string;
  namespace: string;
  log: Logger;
}

const channelOf = (namespace: string) => `${namespace}:identities-changed`;

/** Where nobody can listen to the database: notices of changed identities, among all gateways. Redis may lose them. */
export interface IdentityNotices extends ServiceClient {
  /** After the commit. */
  send(): void;
}

export function openIdentityNotices({ onChange, ...place }: Place & { onChange: () => void }): IdentityNotices {
  const open = () => openRedis({ ...place, url: place.redisUrl });
  const [sender, receiver]: [Redis, Redis] = [open(), open()];
  const channel = channelOf(place.namespace);
  // Those before the connection may be lost.
  receiver.on('ready', () => void receiver.subscribe(channel).then(onChange, () => undefined));
  receiver.on('message', onChange);
  return {
    send: () => void sender.publish(channel, '').catch(() => undefined),
    close: () => {
      sender.disconnect();
      receiver.disconnect();
    },
  };
}

/** Sends one notice, if Redis is there. */
export async function sendIdentityNotice({ redisUrl, namespace, log }: Place): Promise<void> {
  const redis = openRedis({ url: redisUrl, namespace, log });
  const { promise, resolve } = Promise.withResolvers<void>();
  redis.once('ready', () => void redis.publish(channelOf(namespace), '').then(() => resolve(), resolve));
  redis.once('error', () => resolve());
  await promise;
  redis.disconnect();
}
