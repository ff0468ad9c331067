import type { RequestListener } from 'node:http';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { type Contracts, DESCRIPTION_PATH } from '@tocsin/http';
import { eventually } from '@tocsin/testing';
import { type DescribedService, serving, startDescribedService } from './described-service.ts';
import {
  descriptionOf,
  type GatewayHarness,
  type GatewayHarnessOptions,
  openers,
  sampleContracts,
} from './gateway-harness.ts';

const TIMING = { firstReadAfter: 0, interval: 20, absentRounds: 8, deadline: 5_000 };
/** The release of the gateway. */
const { createService, listServices, createTeam } = sampleContracts.catalog;
const BAKED: Contracts = { createService, listServices, createTeam };
/** The next release: one operation more. */
const listTeams = { ...listServices, path: '/api/v1/teams', tag: 'Teams' };
const NEXT: Contracts = { ...BAKED, listTeams };

const { opened, open: openGateway } = openers();

let catalog: DescribedService;
beforeEach(async () => {
  catalog = opened(await startDescribedService('catalog', BAKED));
});

async function open(options: GatewayHarnessOptions = {}): Promise<Gateway> {
  const harness = await openGateway({
    ...options,
    env: {
      CATALOG_URL: catalog.url,
      ANONYMOUS_RATE_LIMIT_PER_MINUTE: '100000',
      RATE_LIMIT_PER_MINUTE: '100000',
      ...options.env,
    },
    overrides: { descriptionTiming: TIMING, ...options.overrides },
  });
  const { bearer: token } = harness;
  const statusOf = async (method: string, path: string) => {
    const body = method === 'POST' ? { title: 'x' } : undefined;
    return (await harness.send({ method, path: `/api/v1/${path}`, token, body })).status;
  };
  return {
    ...harness,
    statusOf,
    document: async () => harness.send({ path: '/api/v1/openapi.json' }),
    metric: async (name, labels) => {
      const line = (await harness.metrics())
        .split('\n')
        .find((one) => one.startsWith(`${name}{`) && labels.every((label) => one.includes(label)));
      return Number(line?.split(' ').at(-1) ?? Number.NaN);
    },
  };
}

type Gateway = GatewayHarness & {
  statusOf(method: string, path: string): Promise<number>;
  document(): ReturnType<GatewayHarness['send']>;
  metric(name: string, labels: string[]): Promise<number>;
};

/** Waits until the gateway has read the description so many times more. */
async function reads(count: number): Promise<void> {
  const target = catalog.reads.length + count;
  await eventually(() => catalog.reads.length >= target);
}

const CATALOG = 'upstream="catalog"';

describe('a service of the same release', () => {
  test('confirms what the gateway has, without sending its description', async () => {
    const gateway = await open();
    await reads(5);
    expect(new Set(catalog.reads.map(({ status }) => status))).toEqual(new Set([304]));
    expect(
      await gateway.metric('tocsin_gateway_description_reads_total', [CATALOG, 'outcome="unchanged"']),
    ).toBeGreaterThan(3);
    expect(await gateway.metric('tocsin_gateway_description_versions', [CATALOG])).toBe(1);
  });
});

describe('a service of another release', () => {
  test('gets requests for its new operations through the old gateway, which documents them', async () => {
    const gateway = await open();
    expect(await gateway.statusOf('GET', 'teams')).toBe(405);
    const before = await gateway.document();
    expect(before.body.paths['/api/v1/teams'].get).toBeUndefined();

    catalog.release(NEXT);
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 200);
    const after = await eventually(async () => {
      const response = await gateway.document();
      return response.body.paths['/api/v1/teams'].get !== undefined && response;
    });
    expect(after.headers.etag).not.toBe(before.headers.etag);
    expect(JSON.stringify(after.body)).not.toContain('x-tocsin-service');
    const unchanged = await gateway.send({
      path: '/api/v1/openapi.json',
      headers: { 'If-None-Match': after.headers.etag },
    });
    expect([unchanged.status, unchanged.bytes.length]).toEqual([304, 0]);
    const changed = await gateway.send({
      path: '/api/v1/openapi.json',
      headers: { 'If-None-Match': before.headers.etag },
    });
    expect(changed.status).toBe(200);
  });

  test('gets no requests any more for what it has removed: 404, or 405 if the path has other methods', async () => {
    const gateway = await open();
    expect(await gateway.statusOf('GET', 'services')).toBe(200);
    catalog.release({ createService, createTeam });
    await eventually(async () => (await gateway.statusOf('GET', 'services')) === 405);
    catalog.release({ createTeam });
    await eventually(async () => (await gateway.statusOf('GET', 'services')) === 404);
    await eventually(async () => (await gateway.document()).body.paths['/api/v1/services'] === undefined);
    expect(await gateway.statusOf('POST', 'teams')).toBe(201);
  });

  test('may have a scope that the gateway does not know: keys without it get 403 with its name', async () => {
    const described = descriptionOf('catalog', NEXT);
    described.paths['/api/v1/teams']!['get']!['x-tocsin-scope'] = 'audits:read';
    catalog.release(NEXT);
    catalog.describe(serving(described));
    const gateway = await open();
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 403);
    const { body } = await gateway.send({ path: '/api/v1/teams', token: await gateway.token() });
    expect(body).toMatchObject({ code: 'missing_scope', details: { required_scope: 'audits:read' } });
  });

  test('describes a schema that others share in another way: both are documented', async () => {
    const described = descriptionOf('catalog', NEXT);
    Object.assign(described.components!.schemas!['Error']!, { description: 'Another release' });
    catalog.describe(serving(described));
    const gateway = await open();
    const { body } = await eventually(async () => {
      const response = await gateway.document();
      return response.body.components.schemas.Error_2 !== undefined && response;
    });
    expect(body.components.schemas.Error_2.description).toBe('Another release');
    const errorOf = (path: string) => {
      const response = body.paths[path].get.responses['401'].$ref.split('/').at(-1);
      return body.components.responses[response].content['application/json'].schema.$ref as string;
    };
    expect(errorOf('/api/v1/services')).toBe('#/components/schemas/Error_2');
    expect(errorOf('/api/v1/incidents')).toBe('#/components/schemas/Error');
  });

  test('is an earlier one that serves no description: the gateway uses its own', async () => {
    catalog.describe((_request, response) => response.writeHead(404).end('{}'));
    const gateway = await open();
    await reads(15);
    expect(await gateway.statusOf('GET', 'services')).toBe(200);
    expect(await gateway.metric('tocsin_gateway_description_reads_total', [CATALOG, 'outcome="none"'])).toBeGreaterThan(
      5,
    );
  });
});

test('processes of two releases at two addresses are both read, every time', async () => {
  const next = opened(await startDescribedService('catalog', NEXT));
  const gateway = await open({ env: { CATALOG_URL: `${catalog.url},${next.url}` } });
  await eventually(async () => (await gateway.metric('tocsin_gateway_description_versions', [CATALOG])) === 2);
  const before = [catalog.reads.length, next.reads.length];
  await eventually(() => catalog.reads.length > before[0]! + 3);
  expect(next.reads.length).toBeGreaterThan(before[1]! + 1);
  expect((await gateway.document()).body.paths['/api/v1/teams'].get).toBeDefined();
});

describe('processes of two releases behind one address', () => {
  test('do not make routes and documentation change to and fro; in the end the remaining release counts', async () => {
    const gateway = await open();
    catalog.release(BAKED, NEXT);
    await eventually(async () => (await gateway.document()).body.paths['/api/v1/teams'].get !== undefined);
    const { etag } = (await gateway.document()).headers;
    const built = await gateway.metric('tocsin_gateway_description_reads_total', [CATALOG, 'outcome="changed"']);
    const started = catalog.reads.length;
    while (catalog.reads.length < started + 60) {
      expect((await gateway.document()).headers.etag).toBe(etag);
      // Routed, whichever process answers: the old one knows the path with other methods only.
      expect([200, 404]).toContain(await gateway.statusOf('GET', 'teams'));
      expect(await gateway.statusOf('GET', 'services')).toBe(200);
    }
    expect(await gateway.metric('tocsin_gateway_description_reads_total', [CATALOG, 'outcome="changed"'])).toBe(built);
    expect(await gateway.metric('tocsin_gateway_description_versions', [CATALOG])).toBe(2);

    catalog.release({ createService, listServices, listTeams });
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_versions', [CATALOG])) === 1);
    expect(await gateway.statusOf('POST', 'teams')).toBe(405);
    expect(await gateway.statusOf('GET', 'teams')).toBe(200);
  });
});

describe('two services that claim the same', () => {
  test.each([
    ['the same method and path', '/api/v1/incidents'],
    ['a path that matches requests of the other', '/api/v1/incidents/5'],
  ])(
    '%s: the holder keeps it, the newcomer is refused with a metric, and its other operations work',
    async (_, path) => {
      const gateway = await open();
      const stolen = { ...sampleContracts.catalog.listServices, path, tag: 'Incidents' };
      catalog.release({ ...NEXT, listStolen: stolen });
      await eventually(async () => (await gateway.metric('tocsin_gateway_operations_refused', [CATALOG])) === 1);
      expect(await gateway.metric('tocsin_gateway_operations_refused', ['upstream="incident"'])).toBe(0);
      expect(await gateway.statusOf('GET', 'teams')).toBe(200);
      const { body } = await gateway.send({ path, token: await gateway.token() });
      expect(['listIncidents', 'getIncident']).toContain(body.route);
      const document = await eventually(async () => {
        const response = await gateway.document();
        return response.body.paths['/api/v1/teams'].get !== undefined && response.text;
      });
      expect(document).not.toContain('listStolen');

      catalog.release(NEXT);
      await eventually(async () => (await gateway.metric('tocsin_gateway_operations_refused', [CATALOG])) === 0);
    },
  );
});

describe('a description that the gateway must not use', () => {
  const huge: RequestListener = (_request, response) => {
    const chunk = Buffer.alloc(65_536, ' ');
    const write = () => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once('drain', write);
    };
    write();
  };
  const noScope = descriptionOf('catalog', NEXT);
  delete noScope.paths['/api/v1/teams']!['get']!['x-tocsin-scope'];
  const otherService = descriptionOf('incident', NEXT);

  test.each<[string, RequestListener]>([
    ['no JSON', serving('<html>')],
    ['an operation without scope', serving(noScope)],
    ['operations of another service', serving(otherService)],
    ['no operations', serving({ ...otherService, paths: {} })],
    ['no end', huge],
    [
      'more bytes than allowed, as it says itself',
      (_request, response) => response.writeHead(200, { 'Content-Length': 10_000_000, ETag: '"large"' }).flushHeaders(),
    ],
  ])('has %s: it is refused with a metric, and the last good one stays', async (_, listener) => {
    const gateway = await open();
    catalog.release(NEXT);
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 200);
    catalog.describe(listener);
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_refused', [CATALOG])) === 1);
    await reads(15);
    expect(await gateway.statusOf('GET', 'teams')).toBe(200);
    expect((await gateway.document()).body.paths['/api/v1/teams'].get).toBeDefined();

    catalog.describe(undefined);
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_refused', [CATALOG])) === 0);
  });

  test('is one of too many: as many as count stay', async () => {
    const gateway = await open();
    const releases = Array.from({ length: 5 }, (_, index) => ({
      ...NEXT,
      [`listTeams${index}`]: { ...listTeams, path: `/api/v1/teams/list-${index}` },
    }));
    catalog.release(...releases);
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_refused', [CATALOG])) === 1);
    expect(await gateway.metric('tocsin_gateway_description_versions', [CATALOG])).toBeLessThanOrEqual(4);
    catalog.release(NEXT);
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_versions', [CATALOG])) === 1);
    expect(await gateway.statusOf('GET', 'teams')).toBe(200);
  });
});

describe('a service that cannot be read', () => {
  test.each<[string, RequestListener]>([
    ['never answers', () => undefined],
    ['sends no end of its headers', (request) => void request.socket.write('HTTP/1.1 200 OK\r\nX-Slow: ')],
    [
      'sends a byte now and then',
      (_request, response) => {
        const timer = setInterval(() => response.write(' '), 20);
        response.once('close', () => clearInterval(timer));
      },
    ],
    ['breaks the connection', (request) => request.socket.destroy()],
    ['redirects', (_request, response) => response.writeHead(302, { Location: 'http://127.0.0.1:9/' }).end()],
    ['returns 304 for something else', (_request, response) => response.writeHead(304, { ETag: '"other"' }).end()],
    ['fails', (_request, response) => response.writeHead(500).end()],
  ])('because it %s: each read ends, and the last good one stays', async (_, listener) => {
    const gateway = await open({ overrides: { descriptionTiming: { ...TIMING, deadline: 300 } } });
    catalog.release(NEXT);
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 200);
    await eventually(async () => (await gateway.metric('tocsin_gateway_description_versions', [CATALOG])) === 1);
    catalog.describe(listener);
    const failed = async () => gateway.metric('tocsin_gateway_description_reads_total', [CATALOG, 'outcome="failed"']);
    await eventually(async () => (await failed()) >= 2);
    expect(await gateway.statusOf('GET', 'teams')).toBe(200);
    catalog.describe(undefined);
    catalog.release(BAKED);
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 405);
  });

  test('is down: the gateway starts with what it was released with, and learns the rest when it is up', async () => {
    const { port } = catalog;
    await catalog.close();
    const gateway = await open();
    expect(await gateway.statusOf('GET', 'teams')).toBe(405);
    expect(await gateway.statusOf('GET', 'services')).toBe(503);
    expect(await gateway.statusOf('GET', 'groups')).toBe(404);
    expect((await gateway.document()).status).toBe(200);

    catalog = opened(await startDescribedService('catalog', NEXT, port));
    await eventually(async () => (await gateway.statusOf('GET', 'teams')) === 200);
  });

  test('does not delay the end of the gateway', async () => {
    catalog.describe(() => undefined);
    const gateway = await open({ overrides: { descriptionTiming: { ...TIMING, deadline: 3_600_000 } } });
    // The request has begun; its response never comes.
    await eventually(async () => (await gateway.statusOf('GET', 'services')) === 200);
    await gateway.app.stop();
  });
});

test('the path of the services’ descriptions leads the public to the description of the API', async () => {
  const gateway = await open();
  expect(await gateway.send({ path: DESCRIPTION_PATH, token: await gateway.token() })).toMatchObject({
    status: 302,
    headers: { location: '/api/v1/openapi.json' },
  });
});
