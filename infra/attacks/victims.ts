/**
 * The victims' process: makes the requests of ordinary clients at a fixed pace, whatever happens to earlier ones, and
 * measures each from the moment at which it was due. Each request has a connection of its own, as a new client has.
 */
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../quantile.ts';
import type { FromVictims, ToVictims, VictimSummary } from './messages.ts';
import { ROUTES, type Route, type Victim } from './routes.ts';

/** Milliseconds; an ordinary client does not wait longer. */
const TIMEOUT = 10_000;

interface Sample {
  ms: number;
  /** Absent: the request succeeded. */
  error?: string;
}

interface Observation {
  pending: Set<Promise<void>>;
  samples: Sample[];
  isEnded: boolean;
}

const agent = new Agent({ keepAlive: false });
const observations = new Map<number, Observation>();
let setting: Extract<ToVictims, { kind: 'victims' }>;
let turn = 0;

async function send(victim: Victim, route: Route): Promise<Sample> {
  const { method = 'GET', path, body } = ROUTES[route](victim);
  const due = performance.now();
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const outgoing = request({
    ...setting.gateway,
    agent,
    method,
    path,
    signal: AbortSignal.timeout(TIMEOUT),
    headers: {
      Host: victim.host,
      Authorization: `Bearer ${victim.token}`,
      ...(payload !== undefined && {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(payload)),
      }),
    },
  });
  const fail = (error: NodeJS.ErrnoException) =>
    resolve(error.name === 'AbortError' || error.name === 'TimeoutError' ? 'no response' : (error.code ?? error.name));
  outgoing.once('error', fail);
  outgoing.once('response', (incoming) => {
    const { statusCode = 0 } = incoming;
    incoming.once('error', fail);
    incoming.once('end', () => resolve(statusCode < 300 ? undefined : `${route} ${statusCode}`));
    incoming.resume();
  });
  outgoing.end(payload);
  const error = await promise;
  return { ms: performance.now() - due, ...(error !== undefined && { error }) };
}

async function observe(observation: Observation, routes: readonly Route[]): Promise<void> {
  const start = performance.now();
  for (let tick = 0; !observation.isEnded; tick += 1) {
    const victim = setting.victims[turn % setting.victims.length];
    turn += 1;
    if (victim === undefined) throw new Error('there are no victims');
    for (const route of routes) {
      const pending = send(victim, route).then((sample) => {
        observation.samples.push(sample);
        observation.pending.delete(pending);
      });
      observation.pending.add(pending);
    }
    await delay(Math.max(0, start + (tick + 1) * setting.every - performance.now()));
  }
}

function summarize(samples: readonly Sample[]): VictimSummary {
  const sorted = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
  const errors: Record<string, number> = {};
  for (const { error } of samples) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
  return { requests: samples.length, errors, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
}

async function end(id: number): Promise<void> {
  const observation = observations.get(id);
  if (observation === undefined) return;
  observation.isEnded = true;
  await Promise.all(observation.pending);
  observations.delete(id);
  process.send?.({ id, summary: summarize(observation.samples) } satisfies FromVictims);
}

process.on('message', (message: ToVictims) => {
  if (message.kind === 'victims') setting = message;
  else if (message.kind === 'end') void end(message.id);
  else {
    const observation: Observation = { pending: new Set(), samples: [], isEnded: false };
    observations.set(message.id, observation);
    void observe(observation, message.routes);
  }
});
process.once('disconnect', () => process.exit());
