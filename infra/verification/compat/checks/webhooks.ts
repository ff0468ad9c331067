import assert from 'node:assert/strict';
import { eventually, type ReceivedRequest } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import { clientOf, type Context, made, previous, type Subscriber, succeed } from '../world.ts';
import { admin, createPerson } from './identity.ts';

const PATH = '/api/v1/settings/webhooks';
/** Milliseconds; a refused delivery is repeated after 5 and 10 seconds. */
const DELIVERED_WITHIN = 60_000;

/** The paths whose requests the receiver refuses, so that a delivery is left to the next combination. */
const refused = new Set<string>();

/** How the receiver of a run responds. */
export const isRefused = (path: string): boolean => refused.has(path);

/** A loopback address for each combination, since deliveries to one address are limited. */
export const receiverAddress = (index: number): string => `127.0.1.${index + 1}`;

const requestsAt = ({ world }: Context, path: string): ReceivedRequest[] =>
  world.receiver.requests.filter((request) => request.path === path);

/** Waits for a delivery about an incident. @throws when it does not come, or its signature is wrong */
async function delivered(
  context: Context,
  { path, secret, reference }: { path: string; secret: string; reference: string },
) {
  const request = await eventually(
    () =>
      requestsAt(context, path).findLast(({ body }) => (JSON.parse(body) as Body).resource?.reference === reference),
    { within: DELIVERED_WITHIN, what: `the delivery of ${reference} to ${path}` },
  );
  verify(secret, request);
  return request;
}

interface Body {
  resource?: { reference: string };
}

function verify(secret: string, { body, headers }: ReceivedRequest): void {
  new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>);
}

async function createIncident(subscriber: Subscriber, title: string): Promise<string> {
  const answer = await succeed(201, `the incident ${title}`, async () =>
    subscriber.client.post('/api/v1/incidents', { title }, { 'Idempotency-Key': title.replaceAll(/\W/g, '-') }),
  );
  return answer.body.incident.human_id;
}

/** A workspace gets a subscription, which is verified and receives an event. */
export async function checkWebhooks(context: Context): Promise<void> {
  const { world, label, current } = context;
  const slug = `w-${label}`;
  const release = context.releaseOf('gateway');
  await admin(world, release, 'workspace', 'create', '--slug', slug, '--name', slug);
  const { token } = await createPerson(world, release, { slug, email: `ana@${slug}.example` });
  const client = clientOf(world, slug, token);
  const path = `/${label}`;
  const address = receiverAddress(Number(label.slice(1)));
  const created = await succeed(201, 'a new subscription', async () =>
    client.post(PATH, { url: `https://${address}:${world.receiver.port}${path}`, event_types: ['incident.created'] }),
  );
  const { secret, webhook } = created.body;
  const subscriber: Subscriber = { slug, client, webhookId: webhook.id, path, secret };
  const verified = await succeed(200, 'a receiver check', async () => client.post(`${PATH}/${webhook.id}/verify`));
  assert.equal(verified.body.webhook.status, 'active');
  const [check] = requestsAt(context, path);
  assert.ok(check, 'the receiver got no request');
  verify(secret, check);

  current.subscriber = subscriber;
  await delivered(context, { path, secret, reference: await createIncident(subscriber, 'delivered at once') });
}

/** The receiver refuses a delivery, which is thus left to the next combination. */
export async function checkRefusedDelivery(context: Context): Promise<void> {
  const subscriber = made(context, 'subscriber');
  const { path, secret } = subscriber;
  refused.add(path);
  const reference = await createIncident(subscriber, 'refused at first');
  context.current.heldReference = reference;
  await delivered(context, { path, secret, reference });
}

/** The subscription of the combination before: what was refused then is delivered now; its secret and status change. */
export async function checkEarlierWebhook(context: Context): Promise<void> {
  const [subscriber, heldReference] = [previous(context, 'subscriber'), previous(context, 'heldReference')];
  if (subscriber === undefined || heldReference === undefined) return;
  const { client, path, secret, webhookId } = subscriber;
  const attempt = await delivered(context, { path, secret, reference: heldReference });
  const refusedCount = requestsAt(context, path).length;
  refused.delete(path);
  const repeated = await eventually(
    () =>
      requestsAt(context, path)
        .slice(refusedCount)
        .find(({ headers }) => headers['webhook-id'] === attempt.headers['webhook-id']),
    { within: DELIVERED_WITHIN, what: 'the repetition of the refused delivery' },
  );
  assert.equal(repeated.body, attempt.body, 'the body of the repeated delivery');
  verify(secret, repeated);

  const rotated = await succeed(200, 'a rotation', async () => client.post(`${PATH}/${webhookId}/rotate-secret`));
  const reference = await createIncident(subscriber, `after the rotation by ${context.label}`);
  const event = await delivered(context, { path, secret: rotated.body.secret, reference });
  verify(secret, event);
  await succeed(200, 'a pause', async () => client.post(`${PATH}/${webhookId}/pause`));
  await succeed(200, 'a resumption', async () => client.post(`${PATH}/${webhookId}/resume`));
  await delivered(context, {
    path,
    secret: rotated.body.secret,
    reference: await createIncident(subscriber, `after the resumption by ${context.label}`),
  });
  const list = await succeed(200, 'the subscriptions', async () => client.get(PATH));
  assert.deepEqual(
    (list.body.webhooks as { id: string; status: string }[]).map(({ id, status }) => [id, status]),
    [[webhookId, 'active']],
  );
  await succeed(200, 'a revocation', async () => client.post(`${PATH}/${webhookId}/revoke`));
}
