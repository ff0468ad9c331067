import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  type Contracts,
  endpoint,
  type HttpServer,
  pageQuery,
  pathId,
  type Route,
  type RouteRequest,
} from '@tocsin/http';
import { SERVICE_NAMES, SERVICES } from '@tocsin/schemas';
import { MemoryBroker } from '@tocsin/messaging';
import { createLogger } from '@tocsin/runtime';
import { createTestDatabase, serve, type TestDatabase, TEST_SECRET_KEYS, testApp } from '@tocsin/testing';
import { closedAfterEach } from '@tocsin/testing/suites';
import { z } from 'zod';
import { openApiDocument } from '../../infra/generate/openapi-document.ts';
import { administration, openGatewayDatabase } from '../src/administration.ts';
import { type GatewayApp, memoryRequestCounter, type Overrides, startApp } from '../src/app.ts';
import { type GatewayConfig, gatewayConfig } from '../src/config.ts';
import type { ApiDescription } from '../src/routes/http/api-description.ts';
import { schema } from '../src/schema.ts';
import { type RawResponse, type RawRequest, sendRaw } from './send-raw.ts';

const silent = createLogger({ app: 'test', level: process.env.TEST_LOG ?? 'silent' });

/** The last request that a service received, as its handler got it. */
interface ReceivedRequest {
  principal?: RouteRequest<unknown, unknown, unknown>['principal'];
  requestId?: string;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  headers?: Record<string, unknown>;
  routeId?: string;
  bytes?: Buffer;
}

/** All bytes, many times. */
export const PICTURE = Buffer.alloc(2 * 1_048_576, Buffer.from(Array.from({ length: 256 }, (_, byte) => byte)));

const echo = z.object({ route: z.string() }).meta({ id: 'Echo' });

const reply = { status: 200, body: echo } as const;
const id = z.object({ id: pathId });
const note = z.strictObject({ title: z.string() });

const listed = { tag: 'Incidents', scope: 'incidents:read', reply } as const;
const written = { tag: 'Incidents', scope: 'incidents:write', needs: ['active_responder'] } as const;
const created = { status: 201, body: echo } as const;

/** Operations of every kind that the gateway distinguishes. */
const sampleContracts = {
  incident: {
    listIncidents: {
      ...endpoint('GET', '/api/v1/incidents', 'List incidents'),
      ...listed,
      query: z.object({ ...pageQuery, q: z.string().optional() }),
      cost: { base: 1, parameters: { q: 10 } },
    },
    listArchivedIncidents: {
      ...endpoint('GET', '/api/v1/incidents/archived', 'List archived incidents'),
      ...listed,
      scope: 'slack_context:read',
    },
    createIncident: {
      ...endpoint('POST', '/api/v1/incidents', 'Declare an incident'),
      ...written,
      body: note,
      idempotent: true,
      reply: { ...created, versioned: true },
    },
    getIncident: { ...endpoint('GET', '/api/v1/incidents/{id}', 'Get an incident'), ...listed, params: id },
    deleteEvent: {
      ...endpoint('DELETE', '/api/v1/timeline/{id}', 'Delete an event'),
      ...written,
      tag: 'Timeline',
      params: id,
      reply: { status: 204 },
    },
    sendAlert: {
      ...endpoint('POST', '/api/v1/alerts', 'Send an alert'),
      ...written,
      scope: 'alerts:write',
      basic: true,
      body: note,
      reply: created,
    },
    enqueueEvent: {
      ...endpoint('POST', '/api/v1/alerts/enqueue', 'Send an event'),
      ...written,
      scope: 'alerts:write',
      tokenProperty: 'key',
      body: note.extend({ key: z.string().optional() }),
      reply: created,
    },
    followIncidents: {
      ...endpoint('GET', '/api/v1/incident-events', 'Follow incidents'),
      ...listed,
      wait: 20_000,
      stream: echo,
    },
    createPicture: {
      ...endpoint('POST', '/api/v1/incidents/{id}/pictures', 'Upload a picture'),
      ...{ ...written, params: id, reply: created },
      upload: { maxBytes: 3 * 1_048_576, types: ['image/*'] },
    },
    getPicture: {
      ...endpoint('GET', '/api/v1/pictures/{id}', 'Download a picture'),
      ...{ ...listed, params: id, reply: { status: 200, file: ['image/png'] } },
    },
    getIncidentByReference: {
      ...endpoint('GET', '/api/v1/incident-references/{reference}', 'Get an incident by its reference'),
      ...listed,
      params: z.object({ reference: z.string() }),
    },
  },
  catalog: {
    createService: {
      ...endpoint('POST', '/api/v1/services', 'Create a service'),
      ...{ tag: 'Services', scope: 'services:write', body: note, reply: created },
      // Deliberately not in the order of the checks.
      needs: ['manage_settings', 'active_responder'],
    },
    listServices: {
      ...endpoint('GET', '/api/v1/services', 'List services'),
      ...{ tag: 'Services', scope: 'services:read', reply },
    },
    createTeam: {
      ...endpoint('POST', '/api/v1/teams', 'Create a team'),
      ...{ tag: 'Teams', scope: 'teams:write', body: note, reply: created },
      needs: ['active_responder', 'manage_teams'],
      deprecated: { since: '2026-01-01T00:00:00Z', sunset: '2026-12-01T00:00:00Z', successor: '/api/v1/groups' },
    },
  },
} as const satisfies Record<string, Contracts>;

/** Implements operations with handlers that record what they receive. */
function sampleRoutes(contracts: Contracts, lastReceived: ReceivedRequest): Route[] {
  const handle: Route['handle'] = async ({ principal, requestId, params, query, body, routeId, bytes }) => {
    Object.assign(lastReceived, { principal, requestId, params, query, body, routeId, bytes });
    if (routeId === 'getPicture') return { file: { bytes: PICTURE, mediaType: 'image/png' }, headers: { ETag: '"1"' } };
    if (routeId === 'deleteEvent') return {};
    const headers = { 'Idempotency-Replayed': 'true', 'X-Tocsin-Secret': 'inner', 'Keep-Alive': 'timeout=1' };
    return { body: { route: routeId }, ...(routeId === 'createIncident' && { revision: 3, headers }) };
  };
  return Object.entries(contracts).map(([name, contract]) => ({ ...contract, id: name, handle }));
}

export const sampleDescriptions = (deadline?: number): Record<'incident' | 'catalog', ApiDescription> => ({
  incident: descriptionOf('incident', withDeadline(sampleContracts.incident, deadline)),
  catalog: descriptionOf('catalog', sampleContracts.catalog),
});

const descriptionOf = (service: string, contracts: Contracts): ApiDescription =>
  openApiDocument(service, contracts) as unknown as ApiDescription;

const withDeadline = (contracts: Contracts, deadline: number | undefined): Contracts =>
  Object.fromEntries(
    Object.entries(contracts).map(([name, contract]) => [
      name,
      { ...contract, ...(deadline !== undefined && { deadline }) },
    ]),
  );

/** A service with its sample operations, which records its requests and their headers. */
async function startService(name: keyof typeof sampleContracts, lastReceived: ReceivedRequest): Promise<HttpServer> {
  const app = testApp({ name, routes: sampleRoutes(sampleContracts[name], lastReceived) });
  return serve((request, response) => {
    lastReceived.headers = { ...request.headers };
    app(request, response);
  });
}

/** A service that responds as a test says. */
interface FakeService extends HttpServer {
  /** Whether its health check succeeds. */
  healthy: boolean;
  requests: number;
  /** Requests that the gateway has aborted. */
  aborted: number;
}

async function startFakeService(
  respond: (request: IncomingMessage, response: ServerResponse, service: FakeService) => void,
): Promise<FakeService> {
  const server = await serve((request, response) => {
    if (request.url === '/healthz') {
      response.writeHead(service.healthy ? 200 : 503).end('{}');
      return;
    }
    service.requests += 1;
    response.on('close', () => (service.aborted += response.writableFinished ? 0 : 1));
    respond(request, response, service);
  });
  const service: FakeService = { ...server, healthy: true, requests: 0, aborted: 0 };
  return service;
}

/** What such a service responds. */
export const ok = (response: ServerResponse | undefined) =>
  void response?.writeHead(200, { 'Content-Type': 'application/json' }).end('{"route":"ok"}');

/** What the tests of a file open, each for itself. */
export function openers() {
  const opened = closedAfterEach();
  return {
    opened,
    /** A gateway, with a token of an owner. */
    open: async (options: GatewayHarnessOptions = {}) => {
      const gateway = opened(await startGatewayHarness(options));
      return { ...gateway, bearer: await gateway.token() };
    },
    openService: async (respond: Parameters<typeof startFakeService>[0]) => opened(await startFakeService(respond)),
  };
}

export interface GatewayHarness {
  app: GatewayApp;
  admin: ReturnType<typeof administration>;
  database: TestDatabase;
  broker: MemoryBroker;
  /** The last request that a service received. */
  lastReceived: ReceivedRequest;
  /** Sends a request to the workspace acme, or to another host; its headers override those of `token` and `host`. */
  send(request: RawRequest & { token?: string | undefined; host?: string }): Promise<RawResponse>;
  metrics(): Promise<string>;
  /** The dependencies in `/readyz` of the internal server. */
  dependencies(): Promise<Record<string, 'up' | 'down'>>;
  /** Creates a user and returns a token of theirs; by default an owner with a seat, and a token with every scope. */
  token(options?: {
    role?: 'owner' | 'manager' | 'member';
    seat?: 'responder' | 'none';
    scopes?: string[];
  }): Promise<string>;
  close(): Promise<void>;
}

export interface GatewayHarnessOptions {
  env?: Record<string, string>;
  overrides?: Partial<Overrides>;
  /** Counts requests in the Redis of `env` instead of in memory. */
  withRedis?: boolean;
  /** Instead of the sample service. */
  incidentUrl?: string;
  /** The deadline of all operations of the incident service; milliseconds. */
  deadline?: number;
  /** Of the resources that workspaces share; what no setting changes, too. */
  shares?: Partial<GatewayConfig['shares']>;
  /** The database of another harness, for a second gateway. */
  database?: TestDatabase;
}

/** The databases of closed harnesses. */
const cleared: TestDatabase[] = [];

/** A gateway on a database of its own, with the workspace acme and two small services behind it. */
export async function startGatewayHarness(options: GatewayHarnessOptions = {}): Promise<GatewayHarness> {
  const lastReceived: ReceivedRequest = {};
  const incident = await startService('incident', lastReceived);
  const catalog = await startService('catalog', lastReceived);
  const database =
    options.database ??
    cleared.pop() ??
    (await createTestDatabase({ schema: schema.name, migrations: schema.migrations }));
  const broker = new MemoryBroker();
  const env = {
    PORT: '0',
    GATEWAY_DATABASE_URL: database.url(schema.name),
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    ...Object.fromEntries(SERVICE_NAMES.map((name) => [SERVICES[name].address, 'http://127.0.0.1:9'])),
    INCIDENT_URL: options.incidentUrl ?? incident.url,
    CATALOG_URL: catalog.url,
    ...options.env,
  };
  const config = gatewayConfig(env);
  const app = await startApp(
    { ...config, shares: { ...config.shares, ...options.shares } },
    {
      log: silent,
      broker,
      ...(options.withRedis !== true && { requestCounter: memoryRequestCounter() }),
      descriptions: sampleDescriptions(options.deadline),
      checkReplies: true,
      ...options.overrides,
    },
  );
  const knex = openGatewayDatabase(env);
  const admin = administration(knex);
  if (options.database === undefined) await admin.createWorkspace({ slug: 'acme', name: 'Acme' });

  let users = 0;
  const token: GatewayHarness['token'] = async ({ role = 'owner', seat = 'responder', scopes } = {}) => {
    users += 1;
    const email = `user-${users}-${Date.now()}@example.com`;
    await admin.createUser({ workspace: 'acme', email, name: `User ${users}`, role, seat });
    const key = await admin.createKey({ workspace: 'acme', user: email, name: 'test', scopes: scopes ?? ALL_SCOPES });
    return key.token;
  };
  return {
    app,
    admin,
    database,
    broker,
    lastReceived,
    token,
    metrics: async () => (await fetch(new URL('/metrics', app.internalUrl))).text(),
    dependencies: async () => {
      const response = await fetch(new URL('/readyz', app.internalUrl));
      return ((await response.json()) as { dependencies: Record<string, 'up' | 'down'> }).dependencies;
    },
    send: async ({ token: bearer, host = 'acme.localhost', headers, ...request }) =>
      sendRaw(app.url, {
        ...request,
        headers: { Host: host, ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }), ...headers },
      }),
    close: async () => {
      await app.stop();
      await Promise.all([incident.close(), catalog.close(), knex.destroy()]);
      if (options.database !== undefined) return;
      await database.clear();
      cleared.push(database);
    },
  };
}

const ALL_SCOPES = [
  'incidents:read',
  'incidents:write',
  'slack_context:read',
  'services:read',
  'services:write',
  'teams:read',
  'teams:write',
];
