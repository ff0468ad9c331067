import { Gauge, type Logger, type Metrics } from '@tocsin/runtime';
import type { Chats } from './chats.ts';

/** Workspaces in one log line. */
const MAX_LOGGED = 100;

/** Encrypts chat tokens with the current key and reports those that no configured key decrypts: reconnect their workspaces. */
export function chatTokenRotation(options: { chats: Chats; log: Logger; metrics: Metrics }): () => Promise<boolean> {
  const { chats, log, metrics } = options;
  const gauge = new Gauge({
    name: 'tocsin_chat_unopened_tokens',
    help: 'Workspaces whose chat token no configured key decrypts',
    registers: [metrics],
  });
  return async () => {
    const undecryptable = await chats.rotateEncryption();
    gauge.set(undecryptable.length);
    if (undecryptable.length > 0) {
      const workspaces = undecryptable.slice(0, MAX_LOGGED);
      log.error({ count: undecryptable.length, workspaces }, 'cannot decrypt chat tokens: their key is not configured');
    }
    return false;
  };
}
