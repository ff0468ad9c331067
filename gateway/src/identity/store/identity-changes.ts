import {
  type Knex,
  listenForNotifications,
  type NotificationListener,
  pipeline,
  type Statement,
} from '@tocsin/postgres';
import { type Logger, startPeriodicTask } from '@tocsin/runtime';

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

/** Milliseconds between two looks of a process that cannot listen, at what Redis may not have told it. */
const LOOK_INTERVAL = 500;

/**
 * Calls `onChange` at every notification and after every connect, because notifications before it may be lost. Where
 * sessions are shared, nobody can listen: then it looks at the version.
 */
export function watchIdentityChanges(options: {
  database: { url: string; sharesSessions?: boolean };
  /** The version of all identities. */
  findVersion: () => Promise<number>;
  log: Logger;
  onChange: () => void;
}): NotificationListener {
  const { database, findVersion, log, onChange } = options;
  if (database.sharesSessions !== true) {
    return listenForNotifications({
      url: database.url,
      channel: CHANNEL,
      application: 'tocsin-gateway-listener',
      log,
      onConnect: onChange,
      onNotification: onChange,
    });
  }
  let last: number | undefined;
  return startPeriodicTask({
    name: 'looking for changed identities',
    interval: LOOK_INTERVAL,
    log,
    work: async () => {
      const version = await findVersion().catch((error: unknown) => {
        log.debug({ err: error }, 'cannot look for changed identities; retrying');
      });
      if (version !== undefined && version !== last) onChange();
      last = version ?? last;
      return false;
    },
  });
}
