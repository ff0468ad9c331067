import { randomBytes } from 'node:crypto';
import { type Knex, query } from '@tocsin/postgres';
import type { Clock, Keyring, Sealed } from '@tocsin/runtime';
import type { TrackerHook } from '@tocsin/schemas';
import { openAddress } from './address.ts';
import { KINDS_BY_NAME } from './clients/kinds/index.ts';
import { KINDS, type Kind } from './domain/tracker.ts';

interface HookDependencies {
  database: Knex;
  clock: Clock;
  trackerKeys: Keyring;
  wakeTrackers: () => void;
}

/** What the signature of an unknown tracker is compared with, so that it takes the same time. */
const NOBODY = randomBytes(32).toString('hex');

/**
 * Takes a webhook of a tracker (contract: Trackers). Nothing in it is trusted but which ticket to look at.
 * @returns whether it is signed with the secret of the tracker
 */
export async function receiveHook(
  { database, clock, trackerKeys, wakeTrackers }: HookDependencies,
  { workspace_id: workspaceId, tracker_id: id, headers, body: encoded }: TrackerHook,
): Promise<boolean> {
  const [tracker] = await query<Sealed & { kind: Kind }>(database, {
    name: 'find-tracker-of-hook',
    text: `select kind, key_id as "keyId", ciphertext from trackers
      where workspace_id = $1 and id = $2 and ciphertext is not null`,
    values: [workspaceId, id],
  });
  const secret = tracker && openAddress(trackerKeys, id, tracker)?.secret;
  const body = Buffer.from(encoded, 'base64');
  const { isSigned, keyOf } = KINDS_BY_NAME[tracker?.kind ?? KINDS[0]];
  const signed = isSigned({ headers, body, secret: secret ?? NOBODY });
  if (!signed || secret === undefined) return false;
  const key = keyOf(parsed(body));
  if (key === undefined) return true;
  await query(database, {
    name: 'due-ticket-of-hook',
    text: `update follow_up_tickets set due_at = $4
      where workspace_id = $1 and tracker_id = $2 and lower(key) = lower($3) returning follow_up_id`,
    values: [workspaceId, id, key, clock.now()],
  });
  wakeTrackers();
  return true;
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}
