import { setTimeout as delay } from 'node:timers/promises';
import { type Client, httpClient } from '@tocsin/testing';

interface Failure {
  kind: 'read' | 'write';
  /** The operation. */
  request: string;
  /** The status with the message, or the code of the error of the connection. */
  outcome: string;
}

export interface MixedLoad {
  readonly totals: {
    /** Requests that have ended. */
    sent: number;
    created: number;
    updated: number;
    failures: Failure[];
  };
  /** The gateway to which the load balancer sends the next request. */
  nextGateway(): string;
  /** Waits for the requests under way. */
  stop(): Promise<void>;
}

/** Milliseconds. */
const READINESS_INTERVAL = 200;
const PAUSE = 30;

/**
 * Clients that read, create and change incidents, behind a load balancer that sends each request to the next gateway that
 * is ready. Like any HTTP client they keep their connections, and use them no more after `Connection: close`. They repeat
 * nothing.
 */
export function startMixedLoad(options: {
  gateways: readonly string[];
  host: string;
  token: string;
  clients: number;
}): MixedLoad {
  const { gateways, host, token } = options;
  const totals: MixedLoad['totals'] = { sent: 0, created: 0, updated: 0, failures: [] };
  const stopping = new AbortController();
  const isStopping = () => stopping.signal.aborted;
  const headers = { Host: host, Authorization: `Bearer ${token}` };

  const ready = new Set(gateways);
  const watchReadiness = async (url: string) => {
    while (!isStopping()) {
      const isReady = await httpClient(url)
        .get('/readyz')
        .then(({ status }) => status === 200)
        .catch(() => false);
      if (isReady) ready.add(url);
      else ready.delete(url);
      await delay(READINESS_INTERVAL, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  let turn = 0;
  const nextGateway = () => {
    turn += 1;
    const candidates = [...ready];
    return candidates[turn % candidates.length] ?? gateways[turn % gateways.length] ?? '';
  };

  const send = async (request: string, call: (client: Client) => ReturnType<Client['get']>) => {
    const kind = request.startsWith('GET') ? 'read' : 'write';
    try {
      const answer = await call(httpClient(nextGateway(), headers));
      if (answer.status < 300) return answer;
      totals.failures.push({ kind, request, outcome: `${answer.status} ${answer.body.message}` });
    } catch (error) {
      totals.failures.push({ kind, request, outcome: (error as NodeJS.ErrnoException).code ?? String(error) });
    } finally {
      totals.sent += 1;
    }
    return undefined;
  };

  const run = async (name: number) => {
    let id: number | undefined;
    let revision = 1;
    for (let round = 0; !isStopping(); round += 1) {
      if (id === undefined || round % 8 === 0) {
        const answer = await send('POST incident', async (client) =>
          client.post('/api/v1/incidents', { title: `Load ${name}.${round}` }),
        );
        if (answer === undefined) continue;
        totals.created += 1;
        ({ id } = answer.body.incident);
        revision = 1;
      } else if (round % 8 === 4) {
        const path = `/api/v1/incidents/${id}`;
        const expected = { 'If-Service-Resource-Version': String(revision) };
        const change = { title: `Changed ${round}` };
        const answer = await send('PATCH incident', async (client) => client.patch(path, change, expected));
        if (answer === undefined) continue;
        totals.updated += 1;
        revision += 1;
      } else {
        const path = READS[round % READS.length] ?? '';
        await send(`GET ${path}`, async (client) => client.get(path.replace('{id}', String(id))));
      }
      await delay(PAUSE);
    }
  };

  const work = [
    ...gateways.map(watchReadiness),
    ...Array.from({ length: options.clients }, async (_, name) => run(name)),
  ];
  return {
    totals,
    nextGateway,
    stop: async () => {
      stopping.abort();
      await Promise.all(work);
    },
  };
}

const READS = [
  '/api/v1/incidents/{id}',
  '/api/v1/incidents?limit=5',
  '/api/v1/teams',
  '/api/v1/custom-fields',
  '/api/v1/events?wait=1',
  '/api/v1/incidents/{id}/timeline',
];
