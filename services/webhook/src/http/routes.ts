/**
 * `http` is the API of the webhook service as a whole: `contracts.ts` joins what the rooms declare, `documentation.ts`
 * has the descriptions and the requests that receivers get, and this file attaches the handlers; an operation without
 * one does not compile. `subscriptions` has those of webhooks, `deliveries` those of what is sent to them, `destinations`
 * those of chats and pagers, `feed` the one of events, which may wait or stream. Operators see the deliveries of all
 * workspaces by `../administration.ts`. The description, the routes of the gateway and all clients are generated from the
 * contracts. Nothing here has state (contract: Webhooks, Destinations, Event feed).
 */
import { implement, type Route } from '@tocsin/http';
import { deliveryHandlers } from '../deliveries/http/handlers.ts';
import { destinationHandlers } from '../destinations/http/handlers.ts';
import { type FeedDependencies, feedHandlers } from '../feed/http/handlers.ts';
import { subscriptionHandlers } from '../subscriptions/http/handlers.ts';
import { contracts } from './contracts.ts';

/** Every command and query of the API, with the room that has it. */
export function routes(
  dependencies: Parameters<typeof subscriptionHandlers>[0] &
    Parameters<typeof deliveryHandlers>[0] &
    Parameters<typeof destinationHandlers>[0],
  feed: FeedDependencies,
): Route[] {
  const events = feedHandlers(feed);
  const subscriptions = subscriptionHandlers(dependencies);
  const deliveries = deliveryHandlers(dependencies);
  const destinations = destinationHandlers(dependencies);

  const commands = {
    createWebhook: subscriptions.createWebhook,
    verifyWebhook: subscriptions.verifyWebhook,
    testWebhook: subscriptions.testWebhook,
    pauseWebhook: subscriptions.pauseWebhook,
    resumeWebhook: subscriptions.resumeWebhook,
    replaceWebhookHeaders: subscriptions.replaceWebhookHeaders,
    rotateWebhookSecret: subscriptions.rotateWebhookSecret,
    revokeWebhook: subscriptions.revokeWebhook,
    redeliverWebhook: deliveries.redeliverWebhook,
    createDestination: destinations.createDestination,
    updateDestination: destinations.updateDestination,
    testDestination: destinations.testDestination,
    pauseDestination: destinations.pauseDestination,
    resumeDestination: destinations.resumeDestination,
    archiveDestination: destinations.archiveDestination,
  };
  const queries = {
    listEvents: events.listEvents,
    listWebhooks: subscriptions.listWebhooks,
    listWebhookDeliveries: deliveries.listWebhookDeliveries,
    getWebhookDelivery: deliveries.getWebhookDelivery,
    listDestinations: destinations.listDestinations,
    getDestination: destinations.getDestination,
  };
  return implement(contracts, { ...commands, ...queries });
}
