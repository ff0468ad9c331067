import { instant } from '@tocsin/schemas';
import type { Documentation, WebhookDocumentation } from '@tocsin/http';
import { z } from 'zod';
import type { contracts } from './contracts.ts';
import type { DeliveryWire } from '../deliveries/http/wire.ts';
import type { DestinationWire } from '../destinations/http/wire.ts';
import type { FeedEventWire } from '../feed/http/event-wire.ts';
import type { WebhookWire } from '../subscriptions/http/wire.ts';

const webhook: WebhookWire = {
  id: 'wh_SampleWebhookOfTheDemo',
  name: 'Sample receiver',
  url: 'https://localhost:9443',
  event_types: ['incident.created'],
  header_names: [],
  include_restricted: false,
  status: 'active',
  created_at: '2026-11-02T08:00:00.000Z',
  updated_at: '2026-11-19T16:20:00.000Z',
  last_success_at: '2026-11-20T09:30:01.000Z',
  last_failure_at: null,
};
const SECRET = 'whsec_3q2A7wEjRWeJq83vEjRWeJq83vEjRWeJq83vEjRWeI0';

const params = { id: webhook.id };

const delivery: DeliveryWire = {
  id: 1,
  webhook_id: webhook.id,
  event_id: '018f6a52-5f0e-4c66-9a3c-2f5d1c0f7a11',
  event_type: 'incident.created',
  incident: 'INC-4',
  status: 'failed',
  attempts: 1,
  last_error: 'status',
  last_status: 404,
  queued_at: '2026-11-20T09:30:00.000Z',
  due_at: null,
  finished_at: '2026-11-20T09:30:01.000Z',
  redelivery: 0,
  requested_by: null,
};
const deliveryParams = { id: delivery.id };

const destination: DestinationWire = {
  id: 1,
  revision: 1,
  name: 'Incidents in Slack',
  kind: 'slack',
  url: 'https://hooks.slack.com',
  has_credential: false,
  header_names: [],
  recipients: [],
  filters: {
    event_types: [],
    timeline_types: [],
    severities: ['sev1', 'sev2'],
    statuses: [],
    services: [],
    team_ids: [],
    roles: [],
  },
  template: null,
  include_restricted: false,
  status: 'active',
  last_success_at: null,
  last_failure: null,
  retry_at: null,
  left_out: 0,
  created_at: '2026-11-02T08:00:00.000Z',
  updated_at: '2026-11-02T08:00:00.000Z',
  archived_at: null,
};
const changed = { ...destination, revision: 2, updated_at: '2026-11-20T09:30:00.000Z' };
const destinationParams = { id: destination.id };

const feedEvent: FeedEventWire = {
  id: '2c1e6a52-5f0e-4c66-9a3c-2f5d1c0f7a11',
  type: 'incident.archived',
  schema_version: 1,
  occurred_at: '2026-11-20T09:30:00.000Z',
  workspace: { id: 1, slug: 'acme', is_demo: false },
  request_id: '4bf92f35-77b3-4da6-a3ce-929d0e0e4736',
  data: {
    incident: {
      id: 3,
      reference: 'INC-3',
      revision: 3,
      title: 'Nightly report is missing',
      service: 'reports',
      regions: [],
      severity: 'sev4',
      status: 'resolved',
      issue_type: 'postmortem',
      impact_summary: '',
      team_id: null,
      created_at: '2026-11-18T20:10:00.000Z',
      created_by: '1',
      archived_at: '2026-11-20T09:30:00.000Z',
    },
  },
};

const incidentCreated = {
  id: '018f6a52-5f0e-4c66-9a3c-2f5d1c0f7a11',
  type: 'incident.created',
  schema_version: 1,
  occurred_at: '2026-11-20T09:30:00.000Z',
  resource: { type: 'incident', id: 4, reference: 'INC-4', revision: 1 },
  data: {
    incident: {
      id: 4,
      reference: 'INC-4',
      created_at: '2026-11-20T09:30:00.000Z',
      title: 'Checkout is down in Europe',
      service: 'checkout',
      regions: ['eu-west-1'],
      severity: 'sev1',
      status: 'open',
      issue_type: 'incident',
    },
  },
};

/** Descriptions and examples of the operations, for the API description (contract: Webhooks, Destinations, Event feed). */
export const documentation: Documentation<typeof contracts> = {
  listEvents: {
    description:
      'Returns the events of the workspace in one order, behind a cursor. `next_cursor` is always present: send it as `after` of the next request. A key gets the events that its scopes allow; the cursor passes the others. A cursor that is older than the retention, or that has passed events which a restored database lacks, is 410 `cursor_expired`: take a new one with `from=now`, read the lists, and continue with the cursor.',
    reply: {
      events: [feedEvent],
      pagination: { limit: 50, has_more: false, next_cursor: 'eyJhbGciOiJIUzI1NiJ9' },
    },
    stream: [{ id: 'eyJhbGciOiJIUzI1NiJ9', event: feedEvent.type, data: feedEvent }],
  },
  listWebhooks: {
    description:
      'Returns the subscriptions that are active or paused, and the latest revoked ones: 1,000 at most. Revoked ones are deleted after 30 days, or what the operator has set.',
    reply: { webhooks: [webhook] },
  },
  createWebhook: {
    description:
      'Creates a subscription, which is paused until its receiver is verified. The response has the secret that signs every request to the receiver; it is not shown again. A workspace may create 600 within an hour; the next is 429 with `details.limit` `webhooks_an_hour`.',
    body: {
      url: 'https://hooks.acme.example/tocsin',
      name: 'On-call pager',
      event_types: ['incident.created'],
      headers: { 'X-Api-Key': 'K6mZ5sTq' },
    },
    reply: {
      webhook: {
        ...webhook,
        id: 'wh_4fTk2mZq8RbXcV1nJwPyLs',
        name: 'On-call pager',
        url: 'https://hooks.acme.example',
        header_names: ['X-Api-Key'],
        status: 'paused',
        last_success_at: null,
      },
      secret: SECRET,
    },
  },
  verifyWebhook: {
    description:
      'Sends the receiver a signed request of type `webhook.verification`. If it answers with a complete 2xx response, the subscription becomes active.',
    params,
    reply: { webhook },
  },
  testWebhook: {
    description:
      'Sends the receiver the same signed request as a verification, within the same limits, and returns what it answered. The subscription stays as it is, and a failure does not count.',
    params,
    reply: { outcome: { result: 'succeeded', status: 204, duration_ms: 84, answer: null } },
  },
  pauseWebhook: {
    description: 'Pauses a subscription. Events from now on are not sent to it, not even after it is resumed.',
    params,
    reply: { webhook: { ...webhook, status: 'paused' } },
  },
  resumeWebhook: {
    description: 'Resumes a subscription that was verified. Deliveries that were queued before the pause continue.',
    params,
    reply: { webhook },
  },
  replaceWebhookHeaders: {
    description:
      'Replaces all headers that requests to the receiver have besides those of Tocsin, from the next request on. The response names them; their values are never shown. An empty object removes them.',
    params,
    body: { headers: { Authorization: 'Bearer 7d1f90c4' } },
    reply: { webhook: { ...webhook, header_names: ['Authorization'] } },
  },
  rotateWebhookSecret: {
    description: 'Returns a new secret. For 24 hours, requests are signed with the new and the old one.',
    params,
    reply: { webhook, secret: SECRET },
  },
  revokeWebhook: {
    description:
      'Revokes a subscription permanently and cancels its queued deliveries. It is deleted after 30 days, or what the operator has set.',
    params,
    reply: { webhook: { ...webhook, status: 'revoked' } },
  },
  listWebhookDeliveries: {
    description:
      'Returns the deliveries of all subscriptions, newest first, as long as they are kept: seven days, or what the operator has set. Those of restricted incidents are there only for callers who see these.',
    reply: { deliveries: [delivery], pagination: { limit: 50, has_more: false } },
  },
  getWebhookDelivery: {
    description: 'Returns a delivery with the body that is sent, and what came of each attempt.',
    params: deliveryParams,
    reply: {
      delivery: { ...delivery, body: JSON.stringify(incidentCreated) },
      attempts: [
        {
          number: 1,
          started_at: '2026-11-20T09:30:00.916Z',
          duration_ms: 84,
          result: 'status',
          status: 404,
          answer: 'Not found',
        },
      ],
    },
  },
  redeliverWebhook: {
    description:
      'Queues a further delivery of the same event to the same subscription, with the same event ID and body. The subscription must be active, no delivery of the event to it may wait, and there are at most 10 redeliveries of an event to a subscription.',
    params: deliveryParams,
    reply: {
      delivery: {
        ...delivery,
        id: 2,
        status: 'queued',
        attempts: 0,
        last_error: null,
        last_status: null,
        queued_at: '2026-11-20T10:15:00.000Z',
        due_at: '2026-11-20T10:15:00.000Z',
        finished_at: null,
        redelivery: 1,
        requested_by: '1',
      },
    },
  },
  listDestinations: {
    description: 'Returns the destinations that are not archived, oldest first.',
    reply: { destinations: [destination] },
  },
  createDestination: {
    description:
      'Creates a destination, which gets the events from then on. What its kind needs of `url`, `credential` and `recipients` must be there. A workspace has at most 20 that are not archived, and creates at most 100 within an hour.',
    body: {
      name: 'Incidents in Slack',
      kind: 'slack',
      url: 'https://hooks.slack.com/services/T024BE7LD/B024BE7LH/Qm8sVt0Kx2',
      filters: { severities: ['sev1', 'sev2'] },
    },
    reply: { destination },
  },
  getDestination: {
    description: 'Returns a destination; an archived one for 30 days, or what the operator has set.',
    params: destinationParams,
    reply: { destination },
  },
  updateDestination: {
    description:
      'Changes what the body names; filters as a whole. What is sent from then on goes by it, and one that fails is tried again at once.',
    params: destinationParams,
    revision: 1,
    body: { filters: { severities: ['sev1'] } },
    reply: { destination: { ...changed, filters: { ...destination.filters, severities: ['sev1'] } } },
  },
  testDestination: {
    description:
      'Sends a message that says that it is a test, and returns what the receiver said; of a pager, one that opens and one that closes an alert. One at a time in a workspace.',
    params: destinationParams,
    reply: { test: { is_accepted: true, reason: null, status: 200, answer: 'ok' } },
  },
  pauseDestination: {
    description: 'Sends nothing until the destination is resumed.',
    params: destinationParams,
    reply: { destination: { ...changed, status: 'paused' } },
  },
  resumeDestination: {
    description:
      'Sends again, without what happened during a pause. A destination that fails is tried again at once, and nothing is left out.',
    params: destinationParams,
    reply: { destination: changed },
  },
  archiveDestination: {
    description: 'Ends a destination for good, and deletes its URL, credential, headers and recipients.',
    params: destinationParams,
    reply: { destination: { ...changed, status: 'archived', archived_at: '2026-11-20T09:30:00.000Z' } },
  },
};

const event = {
  id: z.string().meta({ description: "The event's ID, also in `webhook-id`; the same in every attempt" }),
  schema_version: z.literal(1).meta({ description: 'The version of this schema' }),
  occurred_at: instant.meta({ description: 'When the event occurred' }),
};
const optionalText = (description: string) =>
  z
    .string()
    .optional()
    .meta({ description: `${description}; absent if it is empty` });

/** The requests that receivers get. The bodies are built in `domain/envelope.ts`; a test compares them. */
export const webhooks: Readonly<Record<string, WebhookDocumentation>> = {
  'incident.created': {
    summary: 'An incident was created',
    description:
      'Sent once for each subscription that was active when the incident was created. Delivery is at least once and in no guaranteed order: deduplicate by the ID. Respond with 204 after you have stored the event.',
    body: z.strictObject({
      ...event,
      type: z.literal('incident.created').meta({ description: 'The type of the event' }),
      resource: z
        .strictObject({
          type: z.literal('incident').meta({ description: 'The kind of the resource' }),
          id: z.int().min(1).meta({ description: "The incident's ID" }),
          reference: z.string().meta({ description: "The incident's reference, such as `INC-4`" }),
          revision: z.int().min(1).meta({ description: "The incident's revision at the event" }),
          url: z.string().optional().meta({ description: 'A link to the incident, if the installation has links' }),
        })
        .meta({ description: 'The resource that the event is about' }),
      restricted: z
        .literal(true)
        .optional()
        .meta({ description: 'The incident is restricted: the receiver limits who sees it; absent: it is not' }),
      data: z
        .strictObject({
          incident: z
            .strictObject({
              id: z.int().min(1).meta({ description: "The incident's ID" }),
              reference: z.string().meta({ description: "The incident's reference" }),
              created_at: instant.meta({ description: 'When the incident was created' }),
              title: optionalText('What has happened, in one line'),
              service: optionalText('The slug of the affected service'),
              regions: z
                .array(z.string())
                .optional()
                .meta({ description: 'The affected regions; absent if there are none' }),
              severity: optionalText('The key of the severity'),
              status: optionalText('The key of the status'),
              issue_type: optionalText('`ticket`, `incident` or `postmortem`'),
              impact_summary: optionalText('The impact on customers'),
            })
            .meta({ description: 'The incident as it was created' }),
        })
        .meta({ description: 'The data of the event' }),
    }),
    example: incidentCreated,
  },
  'webhook.verification': {
    summary: 'A subscription is verified',
    description: 'Sent by the operation `verifyWebhook`. Respond with any 2xx status.',
    body: z.strictObject({
      ...event,
      type: z.literal('webhook.verification').meta({ description: 'The type of the event' }),
      resource: z
        .strictObject({
          type: z.literal('webhook').meta({ description: 'The kind of the resource' }),
          id: z.string().meta({ description: "The subscription's ID" }),
        })
        .meta({ description: 'The subscription' }),
    }),
    example: {
      id: '118f6a52-5f0e-4c66-9a3c-2f5d1c0f7a11',
      type: 'webhook.verification',
      schema_version: 1,
      occurred_at: '2026-11-20T09:30:00.000Z',
      resource: { type: 'webhook', id: webhook.id },
    },
  },
};
