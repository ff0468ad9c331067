/**
 * `npm run bench:history`: imports incidents with 20 timeline events each at the default limits while two other
 * workspaces work, then asks for statistics about them and exports them; prints how long it took and what the others
 * noticed. Argument: how many incidents, by default 100,000. Needs Linux, PostgreSQL, RabbitMQ and Redis.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Client, httpClient } from '@tocsin/testing';
import { createVictim } from './create-victim.ts';
import { startMeasuring } from './measure.ts';
import type { VictimSummary } from './messages.ts';
import { INCIDENT_ROUTES } from './routes.ts';
import { startVictims } from './victims-process.ts';
import { quantile } from '../quantile.ts';
import { runOnTarget } from '../systems/run-on-target.ts';
import type { Target } from '../systems/target.ts';

const [incidents = 100_000] = process.argv.slice(2).map(Number);
const EVENTS = 20;
const BATCH = 50;
/** The incidents are spread over this time. */
const YEARS = 4;
const FIRST = Date.UTC(2022, 0, 1);
/** Milliseconds. */
const BEFORE = 20_000;
const REPETITIONS = 20;

const author = { name: 'Ana', email: 'ana@old.example' };

function item(number: number) {
  const created = FIRST + (number / incidents) * YEARS * 365 * 86_400_000;
  const time = (minutes: number) => new Date(created + minutes * 60_000).toISOString();
  return {
    external: { source: 'old', id: String(number), url: `https://old.example/incidents/${number}` },
    title: `Card payments fail in region ${number % 40}`,
    status: 'closed',
    severity: `sev${1 + (number % 4)}`,
    created_at: time(0),
    status_changed_at: time(200),
    author,
    moments: { first_reported_at: time(-3), recovered_at: time(20 + (number % 300)) },
    people: { manager: author },
    timeline: Array.from({ length: EVENTS }, (_, event) => ({
      ...{ external_id: String(event), type: 'note', author, started_at: time(event) },
      body: `Step ${event}: the error rate of region ${number % 40} is at ${(number * event) % 100} %, and we look further.`,
    })),
  };
}

/** Sends one request after the other, and waits when a limit says so; returns the number of pauses. */
async function importAll(client: Client): Promise<number> {
  let pauses = 0;
  for (let first = 0; first < incidents;) {
    const items = Array.from({ length: Math.min(BATCH, incidents - first) }, (_, index) => item(first + index));
    const answer = await client.post('/api/v1/imports/incidents', { incidents: items });
    if (answer.status === 429) {
      pauses += 1;
      await delay(Number(answer.headers.get('Retry-After')) * 1_000);
      continue;
    }
    if (answer.status !== 200) throw new Error(`an import got ${answer.status}: ${answer.text}`);
    const { results } = answer.body as { results: { outcome: string }[] };
    if (results.some(({ outcome }) => outcome !== 'created')) throw new Error(`not all were created: ${answer.text}`);
    first += items.length;
    if (first % 10_000 === 0) console.error(`${first} incidents`);
  }
  return pauses;
}

/** Milliseconds of a request. */
async function timesOf(client: Client, path: string): Promise<number[]> {
  const times: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) {
    const start = performance.now();
    const { status, text } = await client.get(path);
    if (status !== 200) throw new Error(`${path} got ${status}: ${text}`);
    times.push(performance.now() - start);
  }
  return times;
}

async function statistics(client: Client): Promise<void> {
  const end = FIRST + YEARS * 365 * 86_400_000;
  for (const [bucket, days] of [
    ['day', 30],
    ['day', 380],
    ['week', 380],
    ['month', YEARS * 365],
  ] as const) {
    const span = `created_from=${new Date(end - days * 86_400_000).toISOString()}&created_before=${new Date(end).toISOString()}`;
    const times = await timesOf(client, `/api/v1/incidents/statistics?${span}&bucket=${bucket}`);
    console.log(
      `statistics of ${days} days by ${bucket}: p50 ${quantile(times, 0.5).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms`,
    );
  }
}

/** Lines a second of the first response of an export. */
async function exportSpeed(client: Client): Promise<number> {
  const start = performance.now();
  const { text } = await client.get('/api/v1/exports/incidents');
  return (
    text.split('\n').filter((line) => line.startsWith('{"kind":"incident"')).length /
    ((performance.now() - start) / 1_000)
  );
}

const show = ({ requests, errors, p50, p99, lag, eventLoop }: VictimSummary) =>
  `${requests} requests, errors ${JSON.stringify(errors)}, p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ` +
  `p99 until an event is in the feed ${lag?.toFixed(0)} ms, its own event loop ${eventLoop.toFixed(0)} ms`;

async function run(target: Target): Promise<void> {
  const { host, token } = await target.createWorkspace();
  const client = httpClient(`http://${target.gateway.host}:${target.gateway.port}`, {
    Host: host,
    Authorization: `Bearer ${token}`,
  });
  const others = [await createVictim(target), await createVictim(target)];
  const victims = startVictims({ gateway: target.gateway, victims: others, every: 200 });
  try {
    const before = victims.observe(INCIDENT_ROUTES);
    await delay(BEFORE);
    console.log(`others before: ${show(await before())}`);
    const endMeasuring = await startMeasuring(target, await target.processes());
    const during = victims.observe(INCIDENT_ROUTES);
    const start = performance.now();
    const pauses = await importAll(client);
    const seconds = (performance.now() - start) / 1_000;
    console.log(`others meanwhile: ${show(await during())}`);
    console.log(
      `${incidents} incidents with ${EVENTS} events each in ${seconds.toFixed(0)} s, ${(incidents / seconds).toFixed(0)} a second; ${pauses} pauses for limits`,
    );
    console.log(JSON.stringify(await endMeasuring()));
  } finally {
    victims.stop();
  }
  await target.sql.query('analyze');
  await statistics(client);
  console.log(`export: ${(await exportSpeed(client)).toFixed(0)} incidents a second`);
}

await runOnTarget(run);
