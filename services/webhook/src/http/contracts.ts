import type { Contracts } from '@tocsin/http';
import { deliveryContracts } from '../deliveries/http/contracts.ts';
import { destinationContracts } from '../destinations/http/contracts.ts';
import { feedContracts } from '../feed/http/contracts.ts';
import { subscriptionContracts } from '../subscriptions/http/contracts.ts';

// Each example works after those before it: nothing is delivered again to a revoked subscription.
const { revokeWebhook, ...subscriptions } = subscriptionContracts;

/** The API of the webhook service, in the order of its description. */
export const contracts = {
  ...feedContracts,
  ...subscriptions,
  ...deliveryContracts,
  revokeWebhook,
  ...destinationContracts,
} as const satisfies Contracts;
