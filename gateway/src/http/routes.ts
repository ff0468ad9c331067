/**
 * `http` is the gateway's own API as a whole: `contracts.ts` and `documentation.ts` join what the rooms declare, and
 * this file attaches their handlers; an operation without one does not compile. The gateway serves these operations on
 * its internal server, and its public server forwards requests to it as to any service, after the same checks (ADR 50).
 * The description, the routes of the gateway and all clients are generated from the contracts. What other services call
 * is not here, but in `accounts/http/internal-routes.ts`. Nothing here has state.
 */
import { type Cursors, implement, keyLookup, type Route } from '@tocsin/http';
import type { ServicesClient } from '../upstreams/clients/services-client.ts';
import type { KeyUses } from '../accounts/key-uses.ts';
import type { Dependencies } from '../accounts/run-command.ts';
import { erasureHandlers } from '../erasure/http/handlers.ts';
import type { PersonalData } from '../erasure/personal-data.ts';
import { auditHandlers } from '../audit/http/handlers.ts';
import { contracts } from './contracts.ts';
import { idempotencyKeyHandlers } from '../idempotency-keys/http/handlers.ts';
import { keyHandlers } from '../accounts/http/key-handlers.ts';
import { meHandlers } from '../accounts/http/me-handlers.ts';
import { savedViewHandlers } from '../accounts/http/saved-view-handlers.ts';
import type { SealedTokens } from '../accounts/http/sealed-tokens.ts';
import { sessionHandlers } from '../sign-in/http/session-handlers.ts';
import { userHandlers } from '../accounts/http/user-handlers.ts';

/** Every command and query of the gateway's own API. */
export const routes = (options: {
  dependencies: Dependencies;
  services: Pick<ServicesClient, 'ask'>;
  idempotencyHours: number;
  uses: Pick<KeyUses, 'find' | 'findUser'>;
  cursors: Cursors;
  tokens: SealedTokens;
  data: PersonalData;
}): Route[] => {
  const { database } = options.dependencies;
  const ownKeys = keyLookup({ database, contracts, hours: options.idempotencyHours });
  return implement(contracts, {
    ...meHandlers(options),
    ...savedViewHandlers(options),
    ...userHandlers(options),
    ...keyHandlers(options),
    ...erasureHandlers(options),
    ...sessionHandlers(options),
    ...auditHandlers({ ...options, database }),
    ...idempotencyKeyHandlers({ ...options, ownKeys }),
  });
};
