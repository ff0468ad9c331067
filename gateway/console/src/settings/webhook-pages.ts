/** The pages of webhooks in one script: the first screen names each script of its own. */
export { DeliveryPage } from './delivery.tsx';
export { WebhookPage } from './webhook.tsx';
export { WebhooksPage } from './webhooks.tsx';
