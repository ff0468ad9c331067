import { randomUUID } from 'node:crypto';
import { MemoryBroker } from '@tocsin/messaging';
import { type App, createLogger, type Knex, openDatabase } from '@tocsin/runtime';
import {
  type Client,
  eventually,
  type Receiver,
  type ServiceUnderTest,
  type TestClock,
  testClock,
  testGround,
  type TestUser,
} from '@tocsin/testing';
import { type Parts, startApp } from '../src/app.ts';
import { webhookConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';

/** The webhook service on a database of its own, with a clock that tests move. */
export interface TestService extends ServiceUnderTest {
  /** Looks into the service's tables. */
  rows: Knex;
  clock: TestClock;
  /** All log lines so far, as text. */
  logged(): string;
  /** Forgets everything, once nothing is under way; the clock goes to the coming minute's beginning. */
  reset(): Promise<void>;
  /** Another replica, on the same database. */
  another(parts?: Partial<Parts>): Promise<App>;
}

export interface TestServiceOptions {
  receivers?: readonly Receiver[];
  /** `host:port` pairs besides those of the receivers. */
  testReceivers?: readonly string[];
  parts?: Partial<Parts>;
  settings?: Record<string, string>;
  /** The database's own time instead of the test's clock. */
  realTime?: boolean;
}

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { receivers = [], testReceivers = [], parts = {}, settings = {} } = options;
  const ground = await testGround('webhook', schema);
  const clock = testClock();
  const lines: string[] = [];
  const config = webhookConfig({
    ...ground.settings,
    WEBHOOK_DATABASE_URL: ground.databaseUrl,
    WEBHOOK_TEST_RECEIVERS: [...receivers.map((receiver) => receiver.hostAndPort()), ...testReceivers].join(','),
    ...settings,
  });
  const start = async (more: Partial<Parts> = {}) =>
    startApp(config, {
      ...ground.parts,
      log: createLogger({
        app: 'webhook',
        level: 'trace',
        destination: {
          write: (line) => {
            lines.push(line);
            if (process.env.TEST_LOG !== undefined) process.stderr.write(line);
          },
        },
      }),
      ...(options.realTime !== true && { clock }),
      ca: receivers.map(({ ca }) => ca).join('\n'),
      dispatchInterval: 50,
      ...parts,
      ...more,
    });
  const app = await start();
  const others: App[] = [];
  const rows = openDatabase({
    url: ground.databaseUrl,
    schema: schema.name,
    application: 'test',
    poolSize: 2,
  });
  const replicas = { stop: async () => Promise.all(others.map(async (one) => one.stop())) };
  return {
    ...ground.serving(app, replicas, { stop: async () => rows.destroy() }),
    rows,
    clock,
    logged: () => lines.join(''),
    reset: async () => {
      await eventually(
        async () => {
          if ((await rows('slots').select('token')).length > 0) return false;
          // It may meet a sweep, and lose: then it is its turn again.
          await rows.raw('truncate subscriptions, events, inbox, windows, slots, host_addresses cascade');
          return true;
        },
        { what: 'the end of all requests', within: 15_000 },
      );
      clock.toPresent();
      clock.toNextMinute();
    },
    another: async (more) => {
      // A queue delivers to one of several replicas; the in-process broker would deliver to each.
      const other = await start({ broker: new MemoryBroker(), ...more });
      others.push(other);
      return other;
    },
  };
}

export interface TestIncident {
  id?: number;
  /** The whole snapshot's other properties. */
  incident?: Record<string, unknown>;
  workspace?: { id?: number; slug?: string; is_demo?: boolean };
  occurredAt?: string;
  messageId?: string;
  requestId?: string | null;
}

/** The broker's message about a new incident, as the incident service publishes it. */
export function incidentCreated(service: Pick<TestService, 'clock'>, options: TestIncident = {}) {
  const { id = 17, occurredAt = service.clock.now(), messageId = randomUUID() } = options;
  return {
    id: messageId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    workspace: { id: 1, slug: 'acme', is_demo: false, ...options.workspace },
    request_id: options.requestId === undefined ? 'request-1' : options.requestId,
    data: {
      incident: {
        id,
        reference: `INC-${id}`,
        revision: 1,
        title: 'Checkout is down',
        service: 'checkout',
        regions: ['eu'],
        severity: 'sev1',
        status: 'open',
        issue_type: 'incident',
        impact_summary: 'Nobody can pay',
        team_id: null,
        created_at: occurredAt,
        created_by: '42',
        archived_at: null,
        ...options.incident,
      },
    },
  };
}

/** Publishes the event, and waits until the service has taken it. */
export async function publish(service: TestService, ...incidents: TestIncident[]): Promise<void> {
  const messages = incidents.map((incident) => incidentCreated(service, incident));
  const outcomes = await service.broker.publish(
    messages.map((message) => ({ id: message.id, type: message.type, body: JSON.stringify(message) })),
  );
  if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('an event was not taken');
}

export interface Subscribed {
  id: string;
  secret: string;
  /** Path of the subscription's routes. */
  path: string;
}

const PATH = '/api/v1/settings/webhooks';

/** Creates a subscription that is not verified yet. */
export async function subscribe(client: Client, url: string): Promise<Subscribed> {
  const { status, body } = await client.post(PATH, { url });
  if (status !== 201) throw new Error(`creating a subscription answered ${status}: ${JSON.stringify(body)}`);
  return { id: body.webhook.id, secret: body.secret, path: `${PATH}/${body.webhook.id}` };
}

/** Creates a subscription and activates it without the receiver: its checks are limited, and are tests of their own. */
export async function activeSubscription(service: TestService, url: string, user: TestUser = {}): Promise<Subscribed> {
  const subscribed = await subscribe(service.as(user), url);
  await service.rows('subscriptions').where({ id: subscribed.id }).update({ verified: true });
  const { status } = await service.as(user).post(`${subscribed.path}/resume`);
  if (status !== 200) throw new Error(`resuming answered ${status}`);
  return subscribed;
}

interface DeliveryRow {
  id: number;
  event_id: string;
  subscription_id: string;
  status: string;
  attempts: number;
  failed_attempts: number;
  due_at: string;
  lease_token: string | null;
  last_error: string | null;
  last_status: number | null;
}

/** The deliveries as they are stored, in the order of their queueing. */
export async function deliveries(service: TestService): Promise<DeliveryRow[]> {
  return service
    .rows('deliveries')
    .orderBy('id')
    .select<DeliveryRow[]>(
      'id',
      'event_id',
      'subscription_id',
      'status',
      'attempts',
      'failed_attempts',
      'due_at',
      'lease_token',
      'last_error',
      'last_status',
    );
}

/** The only delivery there is, once it satisfies `condition` and no attempt is under way. */
export async function settled(
  service: TestService,
  condition: (delivery: DeliveryRow) => boolean = () => true,
): Promise<DeliveryRow> {
  return eventually(
    async () => {
      const [delivery] = await deliveries(service);
      return delivery?.lease_token === null && condition(delivery) && delivery;
    },
    { what: 'the expected state of the delivery', within: 15_000 },
  );
}
