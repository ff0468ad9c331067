import type { RequestListener } from 'node:http';
import {
  httpApp,
  type HttpServer,
  listen,
  openApiDocument,
  pageQuery,
  pathId,
  PRINCIPAL_PURPOSE,
  type Route,
  route,
  type RouteRequest,
} from '@tocsin/http';
import { MemoryBroker } from '@tocsin/messaging';
import { createLogger, createMetrics, openKeyring } from '@tocsin/runtime';
import { createTestDatabase, type TestDatabase, TEST_SECRET_KEYS } from '@tocsin/testing';
import { z } from 'zod';
import { administration, openGatewayDatabase } from '../src/administration.ts';
import { type GatewayApp, memoryWindows, type Parts, startApp } from '../src/app.ts';
import { gatewayConfig } from '../src/config.ts';
import type { ApiDescription } from '../src/http/api-description.ts';
import { schema } from '../src/schema.ts';
import { type Heard, type Said, speak } from './speak.ts';

export const silent = createLogger({ app: 'test', level: process.env.TEST_LOG ?? 'silent' });
const keyring = openKeyring(TEST_SECRET_KEYS, PRINCIPAL_PURPOSE);

/** What a service's handler saw of the last request. */
export interface Seen {
  principal?: RouteRequest<unknown, unknown, unknown>['principal'];
  requestId?: string;
  params?: unknown;
  query?: unknown;
  body?: unknown;
  headers?: Record<string, unknown>;
  routeId?: string;
}

const echo = z.object({ route: z.string() }).meta({ id: 'Echo' });

/** Routes of every shape that the gateway has to tell apart. */
export function sampleRoutes(seen: Seen): { incident: Route[]; catalog: Route[] } {
  const reply = { status: 200, body: echo };
  const handle = async (request: RouteRequest<unknown, unknown, unknown>) => {
    const { principal, requestId, params, query, body, routeId } = request;
    Object.assign(seen, { principal, requestId, params, query, body, routeId });
    return { body: { route: routeId } };
  };
  const id = z.object({ id: pathId });
  const note = z.strictObject({ title: z.string() });
  return {
    incident: [
      route({
        id: 'listIncidents',
        method: 'get',
        path: '/api/v1/incidents',
        summary: 'List incidents',
        tag: 'Incidents',
        scope: 'incidents:read',
        query: z.object({ ...pageQuery, q: z.string().optional() }),
        reply,
        handle,
      }),
      route({
        id: 'listArchivedIncidents',
        method: 'get',
        path: '/api/v1/incidents/archived',
        summary: 'List archived incidents',
        tag: 'Incidents',
        scope: 'slack_context:read',
        reply,
        handle,
      }),
      route({
        id: 'createIncident',
        method: 'post',
        path: '/api/v1/incidents',
        summary: 'Declare an incident',
        tag: 'Incidents',
        scope: 'incidents:write',
        needs: ['active_responder'],
        body: note,
        idempotent: true,
        reply: { status: 201, body: echo, versioned: true },
        handle: async (request) => ({
          ...(await handle(request)),
          revision: 3,
          headers: { 'Idempotency-Replayed': 'true', 'X-Tocsin-Secret': 'inner', 'Keep-Alive': 'timeout=1' },
        }),
      }),
      route({
        id: 'getIncident',
        method: 'get',
        path: '/api/v1/incidents/{id}',
        summary: 'Get an incident',
        tag: 'Incidents',
        scope: 'incidents:read',
        params: id,
        reply,
        handle,
      }),
      route({
        id: 'deleteEvent',
        method: 'delete',
        path: '/api/v1/timeline/{id}',
        summary: 'Delete an event',
        tag: 'Timeline',
        scope: 'incidents:write',
        needs: ['active_responder'],
        params: id,
        reply: { status: 204 },
        handle: async (request) => {
          await handle(request);
          return {};
        },
      }),
      route({
        id: 'getIncidentByReference',
        method: 'get',
        path: '/api/v1/incident-references/{reference}',
        summary: 'Get an incident by its reference',
        tag: 'Incidents',
        scope: 'incidents:read',
        params: z.object({ reference: z.string() }),
        reply,
        handle,
      }),
    ],
    catalog: [
      route({
        id: 'createService',
        method: 'post',
        path: '/api/v1/services',
        summary: 'Create a service',
        tag: 'Services',
        scope: 'services:write',
        // On purpose not in the order in which they are checked.
        needs: ['manage_settings', 'active_responder'],
        body: note,
        reply: { status: 201, body: echo },
        handle,
      }),
      route({
        id: 'listServices',
        method: 'get',
        path: '/api/v1/services',
        summary: 'List services',
        tag: 'Services',
        scope: 'services:read',
        reply,
        handle,
      }),
      route({
        id: 'createTeam',
        method: 'post',
        path: '/api/v1/teams',
        summary: 'Create a team',
        tag: 'Teams',
        scope: 'teams:write',
        needs: ['active_responder', 'manage_teams'],
        body: note,
        deprecated: { since: '2026-01-01T00:00:00Z', sunset: '2026-12-01T00:00:00Z', successor: '/api/v1/groups' },
        reply: { status: 201, body: echo },
        handle,
      }),
    ],
  };
}

export const sampleDescriptions = (): ApiDescription[] => {
  const { incident, catalog } = sampleRoutes({});
  return [openApiDocument('incident', incident), openApiDocument('catalog', catalog)] as unknown as ApiDescription[];
};

/** A service with these routes, which notes the headers that reach it. */
export async function startService(routes: Route[], seen: Seen): Promise<HttpServer> {
  const app = httpApp({ routes, dependencies: [], keyring, log: silent, metrics: createMetrics('service') });
  return listen(
    (request, response) => {
      seen.headers = { ...request.headers };
      app(request as never, response as never);
    },
    { host: '127.0.0.1', port: 0 },
  );
}

export const startServer = async (handler: RequestListener): Promise<HttpServer> =>
  listen(handler, { host: '127.0.0.1', port: 0 });

export interface House {
  app: GatewayApp;
  admin: ReturnType<typeof administration>;
  database: TestDatabase;
  broker: MemoryBroker;
  /** What reached a service last. */
  seen: Seen;
  /** A request to the workspace acme; with the token, unless the headers say otherwise. */
  say(said: Said & { token?: string | undefined; host?: string }): Promise<Heard>;
  /** A token of a new user; by default of an owner with a seat and every scope. */
  token(options?: {
    role?: 'owner' | 'manager' | 'member';
    seat?: 'responder' | 'none';
    scopes?: string[];
  }): Promise<string>;
  close(): Promise<void>;
}

export interface HouseOptions {
  env?: Record<string, string>;
  parts?: Partial<Parts>;
  /** Counts requests in the Redis of `env`, not in memory. */
  withRedis?: boolean;
  /** Instead of the sample services. */
  incidentUrl?: string;
  upstreamTimeout?: number;
  /** An existing one, to start a second gateway on. */
  database?: TestDatabase;
}

/** A gateway on a database of its own, with the workspace acme and two small services behind it. */
export async function openHouse(options: HouseOptions = {}): Promise<House> {
  const seen: Seen = {};
  const routes = sampleRoutes(seen);
  const incident = await startService(routes.incident, seen);
  const catalog = await startService(routes.catalog, seen);
  const database =
    options.database ?? (await createTestDatabase({ schema: schema.name, migrations: schema.migrations }));
  const broker = new MemoryBroker();
  const env = {
    PORT: '0',
    GATEWAY_DATABASE_URL: database.url(schema.name),
    TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
    INCIDENT_URL: options.incidentUrl ?? incident.url,
    CATALOG_URL: catalog.url,
    CUSTOM_FIELD_URL: 'http://127.0.0.1:9',
    WEBHOOK_URL: 'http://127.0.0.1:9',
    ...options.env,
  };
  const config = gatewayConfig(env);
  const app = await startApp(
    { ...config, upstreamTimeout: options.upstreamTimeout ?? config.upstreamTimeout },
    {
      log: silent,
      broker,
      ...(options.withRedis !== true && { limiter: memoryWindows() }),
      descriptions: sampleDescriptions(),
      ...options.parts,
    },
  );
  const knex = openGatewayDatabase(env);
  const admin = administration(knex);
  if (options.database === undefined) await admin.createWorkspace({ slug: 'acme', name: 'Acme' });

  let users = 0;
  const token: House['token'] = async ({ role = 'owner', seat = 'responder', scopes } = {}) => {
    users += 1;
    const email = `user-${users}-${Date.now()}@example.com`;
    await admin.createUser({ workspace: 'acme', email, name: `User ${users}`, role, seat });
    const made = await admin.createKey({ workspace: 'acme', user: email, name: 'test', scopes: scopes ?? ALL_SCOPES });
    return made.token;
  };
  return {
    app,
    admin,
    database,
    broker,
    seen,
    token,
    say: async ({ token: bearer, host = 'acme.localhost', headers, ...said }) =>
      speak(app.url, {
        ...said,
        headers: { Host: host, ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }), ...headers },
      }),
    close: async () => {
      await app.stop();
      await Promise.all([incident.close(), catalog.close(), knex.destroy()]);
      if (options.database === undefined) await database.drop();
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
