import { randomUUID } from 'node:crypto';
import { json } from 'node:stream/consumers';
import {
  type ChatMessage,
  chatMessage,
  type ChatMessageOutcome,
  type EventContext,
  INTERNAL_PATHS,
} from '@tocsin/schemas';
import { afterEach, beforeEach } from '@jest/globals';
import { listen } from '@tocsin/http';
import { MemoryBroker } from '@tocsin/messaging';
import { type App, type Clock, createLogger } from '@tocsin/runtime';
import {
  behave,
  type Client,
  emptyTables,
  eventually,
  type Receiver,
  serviceHarness,
  type ServiceUnderTest,
  startReceiver,
  type TestClock,
  testClock,
  type TestUser,
} from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { type Overrides, startApp } from '../src/app.ts';
import { webhookConfig } from '../src/config.ts';
import { schema } from '../src/schema.ts';

/** The webhook service on its own database, with a clock that tests control. */
export interface TestService extends ServiceUnderTest {
  clock: TestClock;
  incidents: FakeIncidentService;
  /** All log lines so far, as text. */
  logged(): string;
  /** Deletes all data once no request is in progress, and moves the clock to the start of the next minute. */
  reset(): Promise<void>;
  /** Starts another replica on the same database. */
  startReplica(overrides?: Partial<Overrides>): Promise<App>;
}

/** A stand-in for the incident service's internal API. */
interface FakeIncidentService {
  url: string;
  /** The number of every workspace's latest incident. */
  last: number;
  /** What it says of events; users are people with the email addresses that are asked for. */
  context: EventContext;
  /** What it was asked to post in the workspace's chat. */
  posted: ChatMessage[];
  /** What the chat says to it. */
  chatFailure: ChatMessageOutcome['failure'];
  /** While true, it responds with 503. */
  down: boolean;
  stop(): Promise<void>;
}

/** Ana is user 42, and Ben has left. */
const CONTEXT: EventContext = {
  incidents: [],
  users: [
    { id: 42, email: 'ana@acme.example', name: 'Ana', active: true },
    { id: 43, email: 'ben@acme.example', name: 'Ben', active: false },
  ],
  statuses: [
    { key: 'open', label: 'Open', is_terminal: false },
    { key: 'monitoring', label: 'Monitoring', is_terminal: false },
    { key: 'resolved', label: 'Resolved', is_terminal: true },
  ],
  severities: [
    { key: 'sev1', label: 'SEV-1' },
    { key: 'sev2', label: 'SEV-2' },
    { key: 'sev3', label: 'SEV-3' },
  ],
  services: [{ slug: 'checkout', owner_team_id: 7 }],
};

async function startIncidents(): Promise<FakeIncidentService> {
  const server = await listen(
    (request, response) => {
      response.statusCode = fake.down ? 503 : 200;
      if (request.url === INTERNAL_PATHS.chatMessages) {
        void json(request).then((message) => {
          fake.posted.push(chatMessage.parse(message));
          response.end(JSON.stringify({ failure: fake.chatFailure }));
        });
        return;
      }
      const isContext = request.url?.startsWith(INTERNAL_PATHS.eventContexts) === true;
      response.end(JSON.stringify(isContext ? fake.context : { number: fake.last }));
    },
    { host: '127.0.0.1', port: 0 },
  );
  const fake: FakeIncidentService = {
    ...{ url: server.url, last: 0, context: CONTEXT, down: false, stop: server.close },
    ...{ posted: [], chatFailure: null },
  };
  return fake;
}

/** Deletes all rows of tables, which are locked in this order. */
export const empty = async ({ knex }: Pick<TestService, 'knex'>, tables: readonly string[]): Promise<void> =>
  knex.transaction(async (trx) => {
    for (const statement of emptyTables(tables)) await trx.raw(statement);
  });

export interface TestServiceOptions {
  receivers?: readonly Receiver[];
  /** `host:port` pairs in addition to those of the receivers. */
  testReceivers?: readonly string[];
  overrides?: Partial<Overrides>;
  settings?: Record<string, string>;
  /** Use the database's clock instead of the test's. */
  realTime?: boolean;
}

export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const { receivers = [], testReceivers = [], overrides = {}, settings = {} } = options;
  const harness = await serviceHarness('webhook', schema);
  const clock = testClock();
  const incidents = await startIncidents();
  const lines: string[] = [];
  const config = webhookConfig({
    ...harness.settings,
    WEBHOOK_DATABASE_URL: harness.databaseUrl,
    INCIDENT_URL: incidents.url,
    WEBHOOK_TEST_RECEIVERS: [...receivers.map((receiver) => receiver.hostAndPort()), ...testReceivers].join(','),
    ...settings,
  });
  const start = async (replicaOverrides: Partial<Overrides> = {}) =>
    startApp(config, {
      ...harness.overrides,
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
      destinationInterval: 50,
      destinationPace: 0,
      ...overrides,
      ...replicaOverrides,
    });
  const app = await start();
  const replicaApps: App[] = [];
  const replicas = { stop: async () => Promise.all(replicaApps.map(async (replica) => replica.stop())) };
  const service = harness.serviceUnderTest(app, replicas, incidents);
  return {
    ...service,
    clock,
    incidents,
    logged: () => lines.join(''),
    reset: async () => {
      await eventually(
        async () => {
          if ((await service.knex('slots').select('token')).length > 0) return false;
          // A concurrent periodic task can make this a deadlock; then it is tried again.
          await empty(service, [
            ...['subscriptions', 'secrets', 'activity', 'destinations', 'events', 'deliveries', 'attempts'],
            ...['inbox', 'windows', 'slots', 'host_addresses', 'outbox'],
          ]);
          return true;
        },
        { what: 'all requests to end' },
      );
      incidents.last = 0;
      incidents.context = CONTEXT;
      incidents.down = false;
      incidents.chatFailure = null;
      incidents.posted.length = 0;
      clock.toPresent();
      clock.toNextMinute();
    },
    startReplica: async (replicaOverrides) => {
      // Its own broker: a queue delivers to one replica, but the in-process broker would deliver to each.
      const replica = await start({ broker: new MemoryBroker(), ...replicaOverrides });
      replicaApps.push(replica);
      return replica;
    },
  };
}

/** The service of a test file: it starts with the file and stops after its tests. */
export const serviceForFile = async (options: TestServiceOptions = {}): Promise<TestService> =>
  stopAfterAll(await startService(options));

/** A receiver and a service that trusts it, for a test file; each of its tests begins with none of the data of others. */
export async function serviceWithReceiver(options: Omit<TestServiceOptions, 'receivers'> = {}) {
  const receiver = stopAfterAll(await startReceiver());
  const service = await serviceForFile({ ...options, receivers: [receiver] });
  beforeEach(() => {
    receiver.respond = () => behave.answer(204);
    receiver.requests.length = 0;
  });
  afterEach(async () => {
    receiver.closeConnections();
    await service.reset();
  });
  return { receiver, service };
}

export interface TestIncident {
  id?: number;
  /** Properties to change in the snapshot. */
  incident?: Record<string, unknown>;
  workspace?: { id?: number; slug?: string; is_demo?: boolean };
  occurredAt?: string;
  messageId?: string;
  requestId?: string | null;
  restricted?: boolean;
}

/** The message that the incident service publishes about a new incident. */
export function incidentCreated(service: { clock: Clock }, options: TestIncident = {}) {
  const { id = 17, occurredAt = service.clock.now(), messageId = randomUUID() } = options;
  return {
    id: messageId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    workspace: { id: 1, slug: 'acme', is_demo: false, ...options.workspace },
    request_id: options.requestId === undefined ? 'request-1' : options.requestId,
    ...(options.restricted === true && { restricted: true }),
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

/** Publishes events and waits until the service has consumed them. */
export async function publish(service: TestService, ...incidents: TestIncident[]): Promise<void> {
  const messages = incidents.map((incident) => incidentCreated(service, incident));
  const outcomes = await service.broker.publish(
    messages.map((message) => ({ id: message.id, type: message.type, body: JSON.stringify(message) })),
  );
  if (outcomes.some((outcome) => outcome !== 'confirmed')) throw new Error('an event was not consumed');
}

export interface CreatedSubscription {
  id: string;
  secret: string;
  /** Path prefix of the subscription's routes. */
  path: string;
}

const PATH = '/api/v1/settings/webhooks';

/** Creates an unverified subscription. */
export async function subscribe(client: Client, url: string): Promise<CreatedSubscription> {
  const { status, body } = await client.post(PATH, { url });
  if (status !== 201) throw new Error(`creating a subscription returned ${status}: ${JSON.stringify(body)}`);
  return { id: body.webhook.id, secret: body.secret, path: `${PATH}/${body.webhook.id}` };
}

/** Creates a subscription and activates it without a check, because checks are rate-limited. */
export async function activeSubscription(
  service: TestService,
  url: string,
  user: TestUser = {},
): Promise<CreatedSubscription> {
  const subscription = await subscribe(service.as(user), url);
  await service.knex('subscriptions').where({ id: subscription.id }).update({ verified: true });
  const { status } = await service.as(user).post(`${subscription.path}/resume`);
  if (status !== 200) throw new Error(`resuming returned ${status}`);
  return subscription;
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

/** The stored deliveries in the order in which they were queued. */
export async function deliveries(service: TestService): Promise<DeliveryRow[]> {
  return service
    .knex('deliveries')
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

/** The only delivery, once it satisfies `condition` and no attempt is in progress. */
export async function settled(
  service: TestService,
  condition: (delivery: DeliveryRow) => boolean = () => true,
): Promise<DeliveryRow> {
  return eventually(
    async () => {
      const [delivery] = await deliveries(service);
      return delivery?.lease_token === null && condition(delivery) && delivery;
    },
    { what: 'the expected state of the delivery' },
  );
}
