import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceAddresses } from '@tocsin/http';
import { Counter, Gauge, type Logger, type Metrics } from '@tocsin/runtime';
import type { ServiceWorker } from '@tocsin/service-host';
import { type Conflict, resolveConflicts, unionOf } from '../domain/conflicts.ts';
import { type Operation, OWN_SERVICE, type RouteTable, routeTable } from '../domain/route-table.ts';
import { apiDocument } from './api-document.ts';
import type { BakedApi } from './baked-api.ts';
import {
  type DescriptionReader,
  type ReadOutcome,
  type ReadTiming,
  startDescriptionReader,
} from './description-reader.ts';
import { staticContent } from './static-content.ts';

/** The API as the running services describe it, and as the gateway's own files do until it has read them. */
export interface LiveApi extends ServiceWorker {
  /** Always finds what is routed at present. */
  readonly routes: RouteTable;
  /** Sends the public description of what is routed. */
  sendDescription(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

/** How many operations a log line names. */
const NAMED = 20;

/** Starts to read the services' descriptions in the background; it does not wait for any service. */
export function startLiveApi(options: {
  baked: BakedApi;
  /** The public description of `baked`. */
  document: Buffer;
  /** By the names of the services. */
  addresses: ReadonlyMap<string, ServiceAddresses>;
  /** The URL of the API, with the variable `{workspace}`. */
  server: string;
  timing?: Partial<ReadTiming> | undefined;
  log: Logger;
  metrics: Metrics;
}): LiveApi {
  const { baked, server, log } = options;
  // Not read from itself: it stays as it is while this process runs.
  const own = baked.descriptions.filter(({ service }) => service === OWN_SERVICE);
  let { operations } = baked;
  let conflicts: readonly Conflict[] = [];
  let table = routeTable(operations);

  let document = Promise.resolve(contentOf(options.document));
  let isStale = false;
  /** Of what is routed at present; built when somebody asks for it. */
  const currentDocument = async () => {
    if (!isStale) return document;
    isStale = false;
    const previous = document;
    const newest = [...readers.values()].flatMap(({ current }) => current.slice(0, 1));
    document = apiDocument({ descriptions: [...own, ...newest], operations, server, guides: baked.guides })
      .then(contentOf)
      .catch(async (error: unknown) => {
        log.error({ err: error }, 'cannot build the public description; the previous one stays');
        return previous;
      });
    return document;
  };

  const update = () => {
    const described = [own, ...[...readers.values()].map(({ current }) => current)].flatMap(unionOf);
    const next = resolveConflicts(described, operations);
    table = routeTable(next.operations);
    logChange(log, operations, next.operations);
    logConflicts(log, conflicts, next.conflicts);
    ({ operations, conflicts } = next);
    isStale = true;
  };

  const reads = observe(options.metrics, { readers: () => readers, conflicts: () => conflicts });
  const readers: ReadonlyMap<string, DescriptionReader> = new Map(
    baked.descriptions.flatMap((description) => {
      const { service } = description;
      if (service === OWN_SERVICE) return [];
      const onRead = (outcome: ReadOutcome) => reads.inc({ upstream: service, outcome });
      const addresses = options.addresses.get(service);
      if (addresses === undefined) throw new Error(`there is no address of the ${service} service`);
      const { timing } = options;
      const reader = startDescriptionReader({
        ...{ service, addresses, baked: description, timing, log, onRead },
        onChange: update,
      });
      return [[service, reader] as const];
    }),
  );

  return {
    routes: { find: (path) => table.find(path) },
    sendDescription: async (request, response) => (await currentDocument()).send(request, response),
    stop: async () => {
      await Promise.all([...readers.values()].map(async (reader) => reader.stop()));
    },
  };
}

const contentOf = (document: Buffer) =>
  staticContent(() => document, { type: 'application/json; charset=utf-8', caching: 'revalidated' });

function logChange(log: Logger, before: readonly Operation[], after: readonly Operation[]): void {
  const [old, current] = [new Set(before.map(nameOf)), new Set(after.map(nameOf))];
  const added = [...current].filter((name) => !old.has(name));
  const removed = [...old].filter((name) => !current.has(name));
  log.info(
    { added: added.slice(0, NAMED), removed: removed.slice(0, NAMED) },
    'the routes follow the descriptions of the services',
  );
}

function logConflicts(log: Logger, before: readonly Conflict[], after: readonly Conflict[]): void {
  const known = new Set(before.map(textOf));
  const refused = after.map(textOf).filter((text) => !known.has(text));
  if (refused.length === 0) return;
  log.error({ refused: refused.slice(0, NAMED) }, 'a service describes what another one holds; it is not routed');
}

const nameOf = ({ method, path }: Operation) => `${method} ${path}`;
const textOf = ({ operation, owner }: Conflict) =>
  `${operation.service}: ${nameOf(operation)} (${operation.id}), held by ${owner}`;

/** Returns the counter of reads. */
function observe(
  metrics: Metrics,
  state: { readers: () => ReadonlyMap<string, DescriptionReader>; conflicts: () => readonly Conflict[] },
): Counter<'upstream' | 'outcome'> {
  const gauge = (name: string, help: string, valueOf: (service: string, reader: DescriptionReader) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['upstream'],
      registers: [metrics],
      collect() {
        for (const [service, reader] of state.readers()) this.set({ upstream: service }, valueOf(service, reader));
      },
    });
  gauge(
    'tocsin_gateway_description_refused',
    'Whether the gateway refuses the description that a service serves',
    (_, reader) => (reader.seesRefused ? 1 : 0),
  );
  gauge(
    'tocsin_gateway_description_versions',
    'Versions of the description of a service that are in use',
    (_, reader) => reader.current.length,
  );
  gauge(
    'tocsin_gateway_operations_refused',
    'Operations of a service that are not routed because another service holds their paths or IDs',
    (service) => state.conflicts().filter(({ operation }) => operation.service === service).length,
  );
  return new Counter({
    name: 'tocsin_gateway_description_reads_total',
    help: 'Reads of the descriptions of the services, by outcome',
    labelNames: ['upstream', 'outcome'],
    registers: [metrics],
  });
}
