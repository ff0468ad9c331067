import { type Cursors, implement, keyLookup, type Route } from '@tocsin/http';
import type { ServicesClient } from '../upstreams/clients/services-client.ts';
import type { KeyUses } from '../accounts/key-uses.ts';
import type { Dependencies } from '../accounts/run-command.ts';
import { auditHandlers } from '../audit/http/handlers.ts';
import { contracts } from './contracts.ts';
import { idempotencyKeyHandlers } from '../idempotency-keys/http/handlers.ts';
import { keyHandlers } from '../accounts/http/key-handlers.ts';
import { meHandlers } from '../accounts/http/me-handlers.ts';
import type { SealedTokens } from '../accounts/http/sealed-tokens.ts';
import { sessionHandlers } from '../sign-in/http/session-handlers.ts';
import { userHandlers } from '../accounts/http/user-handlers.ts';

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
