import type { Contracts } from '@tocsin/http';
import { destinationContracts } from '../destinations/http/contracts.ts';
import { feedContracts } from '../feed/http/contracts.ts';
import { subscriptionContracts } from '../subscriptions/http/contracts.ts';

/** The API of the webhook service, in the order of its description. */
export const contracts = {
  ...feedContracts,
  ...subscriptionContracts,
  ...destinationContracts,
} as const satisfies Contracts;
