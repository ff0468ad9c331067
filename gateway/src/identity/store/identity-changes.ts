import {
  type Knex,
  listenForNotifications,
  type NotificationListener,
  pipeline,
  type Statement,
} from '@tocsin/postgres';
import type { Logger } from '@tocsin/runtime';

/** The channel belongs to a database, and so to one installation. */
const CHANNEL = 'tocsin_identity_changed';

const RAISE_VERSION: Statement = {
  name: 'raise-identity-version',
  text: `
    insert into identity_version as current (is_only_row, version) values (true, 1)
    on conflict (is_only_row) do update set version = current.version + 1`,
};

const NOTIFY: Statement = { name: 'notify-identity-change', text: `notify ${CHANNEL}` };

/**
 * Raises the version of all identities, and notifies every running gateway when the transaction commits. The last
 * statement of its transaction that locks anything: all changes lock the same row.
 */
export async function announceIdentityChange(trx: Knex.Transaction): Promise<void> {
  await pipeline(trx, [RAISE_VERSION, NOTIFY]);
}

/** Calls `onChange` at every notification and after every connect, because notifications before it may be lost. */
export const listenForIdentityChanges = (options: {
  url: string;
  log: Logger;
  onChange: () => void;
}): NotificationListener =>
  listenForNotifications({
    url: options.url,
    channel: CHANNEL,
    application: 'tocsin-gateway-listener',
    log: options.log,
    onConnect: options.onChange,
    onNotification: options.onChange,
  });
