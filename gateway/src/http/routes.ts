import { type Cursors, implement, keyLookup, type Route } from '@tocsin/http';
import type { ServicesClient } from '../clients/services-client.ts';
import type { KeyUses } from '../usecases/key-uses.ts';
import type { Dependencies } from '../usecases/run-command.ts';
import { auditHandlers } from './audit-handlers.ts';
import { contracts } from './contracts.ts';
import { idempotencyKeyHandlers } from './idempotency-key-handlers.ts';
import { keyHandlers } from './key-handlers.ts';
import { meHandlers } from './me-handlers.ts';
import type { SealedTokens } from './sealed-tokens.ts';
import { sessionHandlers } from './session-handlers.ts';
import { userHandlers } from './user-handlers.ts';

/** Every command and query of the gateway's own API. */
export const routes = (options: {
  dependencies: Dependencies;
  services: Pick<ServicesClient, 'ask'>;
  idempotencyHours: number;
  uses: Pick<KeyUses, 'find'>;
  cursors: Cursors;
  tokens: SealedTokens;
}): Route[] => {
  const { database } = options.dependencies;
  const ownKeys = keyLookup({ database, contracts, hours: options.idempotencyHours });
  return implement(contracts, {
    ...meHandlers(options),
    ...userHandlers(options),
    ...keyHandlers(options),
    ...sessionHandlers(options),
    ...auditHandlers({ ...options, database }),
    ...idempotencyKeyHandlers({ ...options, ownKeys }),
  });
};
