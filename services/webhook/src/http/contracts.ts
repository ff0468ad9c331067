import type { Contracts } from '@tocsin/http';
import { feedContracts } from '../feed/http/contracts.ts';
import { subscriptionContracts } from '../subscriptions/http/contracts.ts';

/** The API of the webhook service, in the order of its description. */
export const contracts = { ...feedContracts, ...subscriptionContracts } as const satisfies Contracts;
