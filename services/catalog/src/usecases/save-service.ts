import { outbox } from '@tocsin/messaging';
import type { Knex } from '@tocsin/runtime';
import type { Service } from '../domain/service.ts';
import { serviceSnapshot } from '../domain/snapshots.ts';
import { serviceStore } from '../store/service-store.ts';
import { type Caller, eventWorkspaceOf } from './context.ts';

/** A service as a transaction has changed it. */
export interface ChangedService {
  trx: Knex.Transaction;
  caller: Caller;
  service: Service;
  version: number;
}

/** Saves a changed service together with its event. */
export async function saveService(changed: ChangedService): Promise<void> {
  const { trx, service, version } = changed;
  await serviceStore(trx, service.workspaceId).update(service, version);
  await announceService(changed);
}

/** The event of a service that the transaction has written. */
export async function announceService({ trx, caller, service, version }: ChangedService): Promise<void> {
  await outbox(trx).add({
    type: 'service.changed',
    occurredAt: service.updatedAt,
    workspace: eventWorkspaceOf(caller),
    requestId: caller.requestId,
    data: { version, service: serviceSnapshot(service) },
  });
}
