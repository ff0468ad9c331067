import { implement, type Route } from '@tocsin/http';
import { type FeedDependencies, feedHandlers } from '../feed/http/handlers.ts';
import { subscriptionHandlers } from '../subscriptions/http/handlers.ts';
import { contracts } from './contracts.ts';

/** Every command and query of the API, with the room that has it. */
export function routes(dependencies: Parameters<typeof subscriptionHandlers>[0], feed: FeedDependencies): Route[] {
  const events = feedHandlers(feed);
  const subscriptions = subscriptionHandlers(dependencies);

  const commands = {
    createWebhook: subscriptions.createWebhook,
    verifyWebhook: subscriptions.verifyWebhook,
    pauseWebhook: subscriptions.pauseWebhook,
    resumeWebhook: subscriptions.resumeWebhook,
    replaceWebhookHeaders: subscriptions.replaceWebhookHeaders,
    rotateWebhookSecret: subscriptions.rotateWebhookSecret,
    revokeWebhook: subscriptions.revokeWebhook,
  };
  const queries = {
    listEvents: events.listEvents,
    listWebhooks: subscriptions.listWebhooks,
  };
  return implement(contracts, { ...commands, ...queries });
}
