import { randomUUID } from 'node:crypto';
import { idempotentlyWithClaim, invalidState } from '@tocsin/http';
import { changedVersions, type Knex, query } from '@tocsin/postgres';
import { addMilliseconds, systemClock } from '@tocsin/runtime';
import { eventually, testPrincipal } from '@tocsin/testing';
import { keyStore } from '../../../../gateway/src/accounts/store/key-store.ts';
import { recordSeen } from '../../../../gateway/src/accounts/store/user-store.ts';
import { oidcIdentityStore } from '../../../../gateway/src/accounts/store/oidc-identity-store.ts';
import { identityStore } from '../../../../gateway/src/identity/store/identity-store.ts';
import { teamStore } from '../../../../services/catalog/src/store/team-store.ts';
import type { AlertOptions } from '../../../../services/incident/src/alerts/domain/alert.ts';
import { heartbeatStore } from '../../../../services/incident/src/alerts/store/heartbeat-store.ts';
import { findDue, postpone, quietStore, tick } from '../../../../services/incident/src/alerts/store/overdue-store.ts';
import type { Monitor } from '../../../../services/incident/src/alerts/store/source-store.ts';
import {
  findNumberOfChannel,
  hasEventWith,
} from '../../../../services/incident/src/chat-commands/store/channel-store.ts';
import { socketStore } from '../../../../services/incident/src/chat-commands/store/socket-store.ts';
import { channelNameStore, stepQueue } from '../../../../services/incident/src/chat/store/provisioning-store.ts';
import { unannouncedConfigurations } from '../../../../services/incident/src/configuration/store/unannounced-configurations.ts';
import {
  clearReminders,
  hasDueUpdates,
  lockDueUpdates,
} from '../../../../services/incident/src/incidents/store/due-updates.ts';
import { impactStore, mrrCurrencies } from '../../../../services/incident/src/incidents/store/impact-store.ts';
import { incidentStore } from '../../../../services/incident/src/incidents/store/incident-store.ts';
import {
  certainTime,
  countArchivedBefore,
  deleteEntries,
  listArchivedBefore,
  listRetentions,
} from '../../../../services/incident/src/retention/store/retention-store.ts';
import { storageStore } from '../../../../services/incident/src/storage/store/storage-store.ts';
import { formerEventStore } from '../../../../services/incident/src/timeline/store/former-event-store.ts';
import { leaseStore } from '../../../../services/webhook/src/deliveries/store/lease-store.ts';
import { addRestrictions, hideEarlier } from '../../../../services/webhook/src/feed/store/feed-hider.ts';
import { deleteExcess } from '../../../../services/webhook/src/feed/store/feed-trimmer.ts';
import { deliveryStore } from '../../../../services/webhook/src/queue/store/delivery-store.ts';

/** A user, the workspace, and the time of what is done. */
interface Rare {
  workspaceId: number;
  userId: number;
  now: string;
}

/**
 * Executes statements that only failures, sign-ins by a provider, metrics and later runs
 * of periodic tasks cause. What they write is rolled back, or has no row.
 */
export async function executeRareStatements(databases: ReadonlyMap<string, Knex>, rare: Rare): Promise<void> {
  const database = (schema: string) => databases.get(schema) as Knex;
  await useGateway(database('gateway'), rare);
  await useClaims(database('gateway'), rare);
  await changedVersions(database('catalog'), { since: rare.now, afterWorkspace: 0, limit: 1 });
  await rolledBack(database('catalog'), async (trx) => teamStore(trx, rare.workspaceId).recountTeamsOf([rare.userId]));
  await useIncidents(database('incident'), rare);
  await useDeliveries(database('webhook'), rare);
}

async function useGateway(database: Knex, { workspaceId, userId, now }: Rare): Promise<void> {
  await identityStore(database).findWorkspaceIds(['acme']);
  await keyStore(database).findByDigest('acme', '00');
  await keyStore(database).recordUses([{ workspaceId, id: 0, minute: now }]);
  await recordSeen(database, [{ workspaceId, id: 0, minute: now }]);
  const identity = { workspaceId, userId, issuer: 'https://idp.internal', subject: 'x' };
  await oidcIdentityStore(database).find(workspaceId, identity);
  await identityStore(database).findInChat(workspaceId, 'rare@acme.example');
  await rolledBack(database, async (trx) => oidcIdentityStore(trx).insert(identity, now));
}

/** Creates that fail, are refused, and come again after their key has expired. */
async function useClaims(database: Knex, { workspaceId, userId }: Rare): Promise<void> {
  const request = {
    principal: testPrincipal({ user_id: userId, workspace: { id: workspaceId } }),
    ...{ routeId: 'create', params: {}, idempotencyKey: 'rare', idempotencyHours: 24, bytes: Buffer.from('{}') },
    requestId: 'rare',
  };
  const create = async (error: Error, hours: number) =>
    idempotentlyWithClaim(database, { ...request, idempotencyHours: hours }, async () => {
      throw error;
    }).catch(() => undefined);
  await create(new Error('fails'), 24);
  await create(invalidState('is refused'), 24);
  await create(new Error('fails'), 0);
}

async function useIncidents(database: Knex, { workspaceId, now }: Rare): Promise<void> {
  await incidentStore(database, workspaceId).findByExternalId('rare');
  await mrrCurrencies(database, workspaceId).list();
  const missing = { affectedCustomers: 0, mrr: [], asOf: now };
  await rolledBack(database, async (trx) => impactStore(trx, workspaceId).put(0, missing));
  await formerEventStore(database, workspaceId)
    .getDeleted(0)
    .catch(() => undefined);
  await unannouncedConfigurations(database).list(1);
  const work = { workspaceId, incidentId: 0 };
  await channelNameStore(database, work).isUsedElsewhere('rare');
  const claim = { ...work, lease: randomUUID(), requestId: 'rare', trace: null, failures: 0, waits: 0 };
  for (const key of ['slack_channel', 'channel_updates'] as const)
    await stepQueue(database).extendLease({ ...claim, key }, now);
  await useMonitors(database, { workspaceId, monitorId: 0 }, now);
  await continueMeasurement(database, workspaceId);
  await useChat(database, workspaceId, now);
  await hasDueUpdates(database, now);
  await rolledBack(database, async (trx) => {
    await query(trx, lockDueUpdates(now));
    await query(trx, clearReminders([]));
  });
  await listRetentions(database, 0, 1);
  await certainTime(database, systemClock);
  await listArchivedBefore(database, { workspaceId, before: now, limit: 1 });
  await countArchivedBefore(database, { workspaceId, before: now, limit: 1 });
  for (const log of ['access_log', 'alert_records'] as const)
    await rolledBack(database, async (trx) => deleteEntries(trx, log, { workspaceId, before: now }));
}

/** Commands in a chat. */
async function useChat(database: Knex, workspaceId: number, now: string): Promise<void> {
  await findNumberOfChannel(database, { workspaceId, channelId: 'rare' });
  await hasEventWith(database, { workspaceId, incidentId: 0, at: now, text: 'rare' });
  const sockets = socketStore(database, randomUUID());
  await sockets.renew([workspaceId]);
  await sockets.release([workspaceId]);
}

/** A monitor that is silent, and a system that was. */
async function useMonitors(database: Knex, monitor: Monitor, now: string): Promise<void> {
  const digest = '00';
  const options: AlertOptions = {
    ...{
      onEnd: 'note' as const,
      reopenWithin: 0,
      remindAfter: 0,
      newIncidents: 1,
      quietAfter: 60,
      isGroupedByAlert: false,
      restricted: false,
    },
    ...{ service: '', serviceLabel: 'service', severityLabel: 'severity' },
  };
  const heartbeat = { id: 0, name: 'rare', within: 60, heardAt: now, dueAt: now, missedAt: null, options };
  const quiet = { identity: 'rare', digest, format: 'alertmanager', after: 60, heardAt: now, options } as const;
  const sender = testPrincipal({ workspace: { id: monitor.workspaceId } });
  await heartbeatStore(database, monitor).miss(0, now);
  await quietStore(database, monitor).end(digest, now);
  await postpone(database, monitor, { due: { sender, heartbeat, quiet }, now });
  const today = new Date().toISOString();
  await findDue(database, today);
  await tick(database, today);
  await tick(database, addMilliseconds(today, 600_000));
}

/** One of an incident with more rows than a step reads. */
async function continueMeasurement(database: Knex, workspaceId: number): Promise<void> {
  for (const text of [
    'update incidents set event_count = 1000000 where workspace_id = $1',
    `update workspace_storage set due_at = now() - interval '1 day' where workspace_id = $1`,
  ])
    await query(database, { text, values: [workspaceId] });
  // The app measures, too.
  await eventually(async () => (await storageStore(database).measure()) === 'continues');
}

async function useDeliveries(database: Knex, { workspaceId, now }: Rare): Promise<void> {
  const claim = { workspaceId, token: randomUUID(), attempts: 1, internalFailures: 0 };
  const leases = leaseStore(database);
  await leases.lock(claim);
  await leases.countAttempt(claim);
  await leases.release(claim, now);
  await leases.giveBack(claim, { reason: 'internal', delay: 0, time: now });
  await deliveryStore(database).lengths();
  await deleteExcess(database, workspaceId, Number.MAX_SAFE_INTEGER);
  const restriction = { workspaceId, resource: 'incident:1', position: 1 };
  await rolledBack(database, async (trx) => {
    await query(trx, addRestrictions([{ workspaceId, id: randomUUID() }]));
    await hideEarlier(trx, restriction);
    await deliveryStore(trx).restrict(restriction, now);
  });
}

async function rolledBack(database: Knex, work: (trx: Knex.Transaction) => Promise<unknown>): Promise<void> {
  const undo = new Error('is rolled back');
  await database
    .transaction(async (trx) => {
      await work(trx);
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
}
