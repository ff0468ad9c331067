import { randomUUID } from 'node:crypto';
import { idempotentlyWithClaim, invalidState } from '@tocsin/http';
import { changedVersions, type Knex } from '@tocsin/postgres';
import { testPrincipal } from '@tocsin/testing';
import { keyStore } from '../../../../gateway/src/accounts/store/key-store.ts';
import { oidcIdentityStore } from '../../../../gateway/src/accounts/store/oidc-identity-store.ts';
import { identityStore } from '../../../../gateway/src/identity/store/identity-store.ts';
import { teamStore } from '../../../../services/catalog/src/store/team-store.ts';
import { leaseStore } from '../../../../services/webhook/src/deliveries/store/lease-store.ts';
import { deleteExcess } from '../../../../services/webhook/src/feed/store/feed-trimmer.ts';
import { deliveryStore } from '../../../../services/webhook/src/queue/store/delivery-store.ts';

/** A user, the workspace, and the time of what is done. */
interface Rare {
  workspaceId: number;
  userId: number;
  now: string;
}

/**
 * Executes statements of gateway, catalog and webhooks that only failures, sign-ins by a provider, metrics and later runs
 * of periodic tasks cause. What they write is rolled back, or has no row.
 */
export async function executeRareStatements(databases: ReadonlyMap<string, Knex>, rare: Rare): Promise<void> {
  const database = (schema: string) => databases.get(schema) as Knex;
  await useGateway(database('gateway'), rare);
  await useClaims(database('gateway'), rare);
  await changedVersions(database('catalog'), { since: rare.now, afterWorkspace: 0, limit: 1 });
  await rolledBack(database('catalog'), async (trx) => teamStore(trx, rare.workspaceId).recountTeamsOf([rare.userId]));
  await useDeliveries(database('webhook'), rare);
}

async function useGateway(database: Knex, { workspaceId, userId, now }: Rare): Promise<void> {
  await identityStore(database).findWorkspaceIds(['acme']);
  await keyStore(database).findByDigest('acme', '00');
  await keyStore(database).recordUses([{ workspaceId, keyId: 0, minute: now }]);
  const identity = { workspaceId, userId, issuer: 'https://idp.internal', subject: 'x' };
  await oidcIdentityStore(database).find(workspaceId, identity);
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

async function useDeliveries(database: Knex, { workspaceId, now }: Rare): Promise<void> {
  const claim = { workspaceId, token: randomUUID(), attempts: 1, internalFailures: 0 };
  const leases = leaseStore(database);
  await leases.lock(claim);
  await leases.countAttempt(claim);
  await leases.release(claim, now);
  await leases.giveBack(claim, { reason: 'internal', delay: 0, time: now });
  await deliveryStore(database).lengths();
  await deleteExcess(database, workspaceId, Number.MAX_SAFE_INTEGER);
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
