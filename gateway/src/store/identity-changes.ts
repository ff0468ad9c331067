import { type Knex, listenForNotifications, type Logger, type NotificationListener } from '@tocsin/runtime';

/** The channel belongs to a database, and so to one installation. */
const CHANNEL = 'tocsin_identity_changed';

/** Notifies every running gateway of a change of identities, when the transaction commits. */
export async function notifyIdentityChange(trx: Knex.Transaction): Promise<void> {
  await trx.raw(`notify ${CHANNEL}`);
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
