import { type Reply, type Route, route, type RouteRequest } from '@tocsin/http';
import { z } from 'zod';
import { subscriptionStore } from '../store/subscription-store.ts';
import type { SubscriptionCommand, Tools } from '../usecases/context.ts';
import { createSubscription } from '../usecases/create-subscription.ts';
import { pauseSubscription } from '../usecases/pause-subscription.ts';
import { resumeSubscription } from '../usecases/resume-subscription.ts';
import { revokeSubscription } from '../usecases/revoke-subscription.ts';
import { rotateSecret } from '../usecases/rotate-secret.ts';
import { verifySubscription } from '../usecases/verify-subscription.ts';
import { webhookView } from './views.ts';
import { newWebhook, secretReply, webhookList, webhookReply } from './wire.ts';

/** What the routes' handlers work with; declaring the routes touches none of it. */
export interface RouteParts {
  tools: Tools;
}

const PATH = '/api/v1/settings/webhooks';
const common = { tag: 'Webhooks', scope: 'webhooks:manage', needs: ['manage_settings'] } as const;
// Any string is a possible ID: one that is none of ours is not found.
const params = z.strictObject({ id: z.string() });

type OneRequest = RouteRequest<{ id: string }, unknown, unknown>;

const commandOf = ({ principal, params: { id }, requestId }: OneRequest): SubscriptionCommand => ({
  workspaceId: principal.workspace.id,
  id,
  requestId,
});

export function routes({ tools }: RouteParts): Route[] {
  return [
    route({
      ...common,
      id: 'listWebhooks',
      method: 'get',
      path: PATH,
      summary: "The workspace's webhook subscriptions, revoked ones included, oldest first",
      reply: { status: 200, body: webhookList },
      handle: async ({ principal }) => {
        const subscriptions = await subscriptionStore(tools.database, principal.workspace.id).list();
        return { body: { webhooks: subscriptions.map(webhookView) } };
      },
    }),
    route({
      ...common,
      id: 'createWebhook',
      method: 'post',
      path: PATH,
      summary: 'Subscribe a receiver; it is paused until it is verified',
      body: newWebhook,
      reply: { status: 201, body: secretReply },
      handle: async ({ principal, body }) => {
        const { subscription, secret } = await createSubscription(tools, {
          workspaceId: principal.workspace.id,
          url: body.url,
          eventTypes: body.event_types,
        });
        return { body: { webhook: webhookView(subscription), secret } };
      },
    }),
    command('verify', 'verifyWebhook', 'Check the receiver with a signed request; if it answers well, activate', {
      body: webhookReply,
      handle: async (request) => ({
        body: { webhook: webhookView(await verifySubscription(tools, commandOf(request))) },
      }),
    }),
    command('pause', 'pauseWebhook', 'Stop deliveries; events from now on are skipped', {
      body: webhookReply,
      handle: async (request) => ({
        body: { webhook: webhookView(await pauseSubscription(tools, commandOf(request))) },
      }),
    }),
    command('resume', 'resumeWebhook', 'Take deliveries up again; skipped events are not replayed', {
      body: webhookReply,
      handle: async (request) => ({
        body: { webhook: webhookView(await resumeSubscription(tools, commandOf(request))) },
      }),
    }),
    command('revoke', 'revokeWebhook', 'End a subscription for good; what is queued is cancelled', {
      body: webhookReply,
      handle: async (request) => ({
        body: { webhook: webhookView(await revokeSubscription(tools, commandOf(request))) },
      }),
    }),
    command('rotate-secret', 'rotateWebhookSecret', 'Replace the secret; the one before signs beside it for 24 hours', {
      body: secretReply,
      handle: async (request) => {
        const { subscription, secret } = await rotateSecret(tools, commandOf(request));
        return { body: { webhook: webhookView(subscription), secret } };
      },
    }),
  ];
}

/** `POST …/{id}/<name>`: a command on one subscription. */
function command(
  name: string,
  id: string,
  summary: string,
  { body, handle }: { body: z.ZodType; handle: (request: OneRequest) => Promise<Reply> },
): Route {
  return route({
    ...common,
    id,
    method: 'post',
    path: `${PATH}/{id}/${name}`,
    summary,
    params,
    reply: { status: 200, body },
    handle,
  });
}
