import type { Knex, Logger } from '@tocsin/runtime';
import type { Sender } from '../clients/sender.ts';
import type { Time } from '../store/time.ts';
import type { Figures } from './figures.ts';
import type { Vault } from './vault.ts';

/** What commands work with. */
export interface Tools {
  database: Knex;
  time: Time;
  vault: Vault;
  sender: Sender;
  figures: Figures;
  log: Logger;
  /** `host:port` pairs that may be on loopback. */
  testReceivers: ReadonlySet<string>;
  /** Begins at once with what a commit left in the queue. */
  wakeDispatcher: () => void;
}

/** Which subscription a command is about, and within which request. */
export interface SubscriptionCommand {
  workspaceId: number;
  id: string;
  requestId: string;
}
