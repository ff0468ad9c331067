import type { RequestListener } from 'node:http';
import { type Contracts, DESCRIPTION_PATH, type Handlers, implement, type RouteRequest } from '@tocsin/http';
import { serve, testApp } from '@tocsin/testing';
import type { ApiDescription } from '../src/http/api-description.ts';
import { descriptionOf } from './gateway-harness.ts';

/** One address with processes of a service behind it, each of which describes its own release. */
export interface DescribedService {
  readonly url: string;
  readonly port: number;
  /** The `If-None-Match` of each read of the description, and the status of its response. */
  readonly reads: { known: string; status: number }[];
  /** Replaces the processes by one of each of these releases; the requests go to one after the other. */
  release(...releases: (Contracts | RequestListener)[]): void;
  /** Answers reads of the description instead of the processes; `undefined`: the processes do. */
  describe(listener: RequestListener | undefined): void;
  close(): Promise<void>;
}

export async function startDescribedService(name: string, first: Contracts, port = 0): Promise<DescribedService> {
  const processOf = (release: Contracts | RequestListener): RequestListener =>
    typeof release === 'function' ? release : releaseApp(name, release);
  let processes = [processOf(first)];
  let describing: RequestListener | undefined;
  // Apart from each other: requests must not decide which process a read reaches.
  const turns = { reads: 0, requests: 0 };
  const reads: DescribedService['reads'] = [];
  const listener: RequestListener = (request, response) => {
    const kind = request.url === DESCRIPTION_PATH ? 'reads' : 'requests';
    turns[kind] += 1;
    const process = processes[turns[kind] % processes.length]!;
    if (kind === 'requests') {
      process(request, response);
      return;
    }
    const known = request.headers['if-none-match'] ?? '';
    response.once('close', () => reads.push({ known, status: response.statusCode }));
    (describing ?? process)(request, response);
  };
  const server = await serve(listener, { port });
  return {
    url: server.url,
    port: server.port,
    reads,
    release: (...releases) => {
      processes = releases.map(processOf);
    },
    describe: (listener) => {
      describing = listener;
    },
    close: server.close,
  };
}

/** A process of the service, as `runService` builds it; each operation returns its ID. */
function releaseApp(name: string, contracts: Contracts): RequestListener {
  const handle = async ({ routeId }: RouteRequest<unknown, unknown, unknown>) => ({ body: { route: routeId } });
  const handlers = Object.fromEntries(Object.keys(contracts).map((id) => [id, handle]));
  return testApp({
    name,
    routes: implement(contracts, handlers as unknown as Handlers<Contracts>),
    description: Buffer.from(JSON.stringify(descriptionOf(name, contracts))),
  });
}

/** Serves this description, whatever the request knows. */
export const serving =
  (description: ApiDescription | string | Buffer): RequestListener =>
  (_request, response) => {
    const isText = typeof description === 'string' || Buffer.isBuffer(description);
    response.setHeader('Content-Type', 'application/json');
    response.end(isText ? description : JSON.stringify(description));
  };
