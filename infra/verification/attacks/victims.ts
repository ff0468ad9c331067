/**
 * The victims' process: makes the requests of ordinary clients at a fixed pace, whatever happens to earlier ones, and
 * measures each from the moment at which it was due. Each request has a connection of its own, as a new client has.
 */
import { Agent } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { quantile } from '../quantile.ts';
import { send as sendRequest } from '../systems/send.ts';
import type { FromVictims, ToVictims, VictimSummary } from './messages.ts';
import { ROUTES, type Route, type Victim, type VictimRequest } from './routes.ts';

/** Milliseconds; an ordinary client does not wait longer. */
const TIMEOUT = 10_000;
/** An event that is not in the feed then counts as this late. */
const RECORDED_WITHIN = 60_000;
const RETRY_INTERVAL = 50;

interface Sample {
  ms: number;
  /** Absent: the request succeeded. */
  error?: string;
}

interface Observation {
  pending: Set<Promise<void>>;
  samples: Sample[];
  /** Milliseconds from the response of each create to its event in the feed. */
  lags: number[];
  isEnded: boolean;
}

const eventLoopDelay = monitorEventLoopDelay({ resolution: 10 });
eventLoopDelay.enable();

const agent = new Agent({ keepAlive: false });
const observations = new Map<number, Observation>();
let setting: Extract<ToVictims, { kind: 'victims' }>;
let turn = 0;

/** Makes a request; `error` is missing if a complete response with a status below 300 arrived. */
async function exchange(
  victim: Victim,
  { method, path, body }: VictimRequest,
  timeout = TIMEOUT,
): Promise<{ text: string; error?: string }> {
  const { outcome, text, error } = await sendRequest(setting.gateway, victim, {
    method: method ?? 'GET',
    path,
    body,
    from: '127.0.0.1',
    agent,
    kept: Number.MAX_SAFE_INTEGER,
    signal: AbortSignal.timeout(Math.ceil(timeout)),
  });
  if (outcome === 'silent') return { text, error: 'no response' };
  if (outcome === 'closed') return { text, error: error ?? outcome };
  return { text, ...(outcome >= 300 && { error: String(outcome) }) };
}

async function send(victim: Victim, route: Route, observation: Observation): Promise<void> {
  const due = performance.now();
  const { text, error } = await exchange(victim, ROUTES[route](victim));
  const answeredAt = performance.now();
  const shown = error !== undefined && /^\d/.test(error) ? `${route} ${error}` : error;
  observation.samples.push({ ms: answeredAt - due, ...(shown !== undefined && { error: shown }) });
  if (route !== 'create' || error !== undefined) return;
  const { incident } = JSON.parse(text) as { incident: { id: number } };
  await untilRecorded(victim, incident.id, answeredAt + RECORDED_WITHIN);
  observation.lags.push(performance.now() - answeredAt);
}

/** Waits until the event of a new incident is in the feed of the victim, or until the deadline. */
async function untilRecorded(victim: Victim, incidentId: number, deadline: number): Promise<void> {
  const path = `/api/v1/events?from=beginning&types=incident.created&resource=incident:${incidentId}&wait=20`;
  for (;;) {
    const left = deadline - performance.now();
    if (left < 1) return;
    const { text, error } = await exchange(victim, { path }, left);
    if (error === undefined && (JSON.parse(text) as { events: unknown[] }).events.length > 0) return;
    // While the feed does not answer, an ordinary client tries again.
    await delay(Math.min(left, RETRY_INTERVAL));
  }
}

async function observe(observation: Observation, routes: readonly Route[]): Promise<void> {
  const start = performance.now();
  for (let tick = 0; !observation.isEnded; tick += 1) {
    const victim = setting.victims[turn % setting.victims.length];
    turn += 1;
    if (victim === undefined) throw new Error('there are no victims');
    for (const route of routes) {
      const pending = send(victim, route, observation).then(() => void observation.pending.delete(pending));
      observation.pending.add(pending);
    }
    await delay(Math.max(0, start + (tick + 1) * setting.every - performance.now()));
  }
}

function summarize({ samples, lags }: Observation): VictimSummary {
  const times = samples.map(({ ms }) => ms);
  const errors: Record<string, number> = {};
  for (const { error } of samples) if (error !== undefined) errors[error] = (errors[error] ?? 0) + 1;
  return {
    requests: samples.length,
    errors,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    ...(lags.length > 0 && { lag: quantile(lags, 0.99) }),
    eventLoop: eventLoopDelay.max / 1e6,
  };
}

async function end(id: number): Promise<void> {
  const observation = observations.get(id);
  if (observation === undefined) return;
  observation.isEnded = true;
  await Promise.all(observation.pending);
  observations.delete(id);
  process.send?.({ id, summary: summarize(observation) } satisfies FromVictims);
}

process.on('message', (message: ToVictims) => {
  if (message.kind === 'victims') setting = message;
  else if (message.kind === 'end') void end(message.id);
  else {
    const observation: Observation = { pending: new Set(), samples: [], lags: [], isEnded: false };
    observations.set(message.id, observation);
    eventLoopDelay.reset();
    void observe(observation, message.routes);
  }
});
process.once('disconnect', () => process.exit());
