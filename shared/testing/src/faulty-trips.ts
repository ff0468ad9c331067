import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import type { Socket } from 'node:net';
import { currentRequest, type Versions } from '@tocsin/runtime';
import pg from 'pg';

/** `before`: the trip is not made. `after`: it is made, and nobody learns what it did. */
export type Loss = 'before' | 'after';

/** A trip that was lost. */
export interface LostTrip {
  what: string;
  /** Whether it may have changed something by itself: a COMMIT, a write outside of a transaction, a write to a service. */
  mayChange: boolean;
}

interface LosingOptions {
  loss: Loss;
  /** Counted from 1. */
  trip: number;
  /** Whose trips: those of all requests, or those of what `work` calls and starts. Default: requests. */
  of?: 'requests' | 'work';
  /** The server does not notice that the connection is lost, until `endKeptSessions`. */
  keepsSession?: boolean;
}

interface Plan extends LosingOptions {
  trips: LostTrip[];
  lost: LostTrip | undefined;
}

let plan: Plan | undefined;
const ofWork = new AsyncLocalStorage<Plan>();
const kept = new Set<Socket>();

/** Loses one trip of those that are made during `work`. Returns it, if there were so many, and all that were made. */
export async function losing<Result>(
  options: LosingOptions,
  work: () => Promise<Result>,
): Promise<{ result: Result; lost: LostTrip | undefined; trips: LostTrip[] }> {
  const newPlan: Plan = { ...options, trips: [], lost: undefined };
  plan = newPlan;
  try {
    const result = await (newPlan.of === 'work' ? ofWork.run(newPlan, work) : work());
    return { result, lost: newPlan.lost, trips: newPlan.trips };
  } finally {
    plan = undefined;
  }
}

/** Counts a trip. Returns how it is lost, if it is. */
export function lossOf(trip: LostTrip): Loss | undefined {
  if (plan === undefined) return undefined;
  plan.trips.push(trip);
  if (plan.trips.length !== plan.trip) return undefined;
  plan.lost = trip;
  return plan.loss;
}

/** Whether the code that runs now makes the trips that are lost. */
const isOfPlan = () => (plan?.of === 'work' ? ofWork.getStore() === plan : currentRequest() !== undefined);

/** Ends the sessions whose connections are lost without their server's notice. */
export function endKeptSessions(): void {
  for (const stream of kept) stream.destroy();
  kept.clear();
}

interface Pipeline {
  statements: readonly { text: string }[];
  handleReadyForQuery(): void;
  handleError(error: unknown, connection?: unknown): void;
}

const READ = /^\s*(?:select|set|show|begin|rollback|deallocate)\b/i;

/** A statement of an app, which is not one of the test. */
function isOfApp(client: pg.Client): boolean {
  const { application_name: name = '' } = (client as unknown as { connectionParameters: { application_name?: string } })
    .connectionParameters;
  return name.startsWith('tocsin-') && !name.endsWith('-health');
}

/** Replaces the function that all statements pass. */
function losePipelines(): () => void {
  const client = pg.Client.prototype as { query: (...args: unknown[]) => unknown };
  const { query } = client;
  client.query = function (this: pg.Client & { getTransactionStatus(): string | null }, ...args: unknown[]) {
    const [pipeline] = args as [Pipeline | string];
    if (typeof pipeline === 'string' || !('handleReadyForQuery' in pipeline) || !isOfApp(this))
      return query.apply(this, args);
    const texts = pipeline.statements.map(({ text }) => text);
    const isAlone = this.getTransactionStatus() === 'I' && !/^\s*begin\b/i.test(texts[0] ?? '');
    const mayChange = texts.includes('COMMIT') || (isAlone && texts.some((text) => !READ.test(text)));
    const what = texts.map((text) => text.trim().replaceAll(/\s+/g, ' ').slice(0, 60)).join('; ');
    const loss = isOfPlan() ? lossOf({ what, mayChange }) : undefined;
    if (loss === undefined) return query.apply(this, args);
    const fail = pipeline.handleError.bind(pipeline);
    const keepsSession = plan?.keepsSession === true;
    const lose = () => {
      this.once('end', () => fail(new Error('Connection terminated unexpectedly')));
      const { stream } = this.connection as unknown as { stream: Socket };
      if (!keepsSession) stream.destroy();
      else {
        kept.add(stream);
        this.connection.emit('end');
      }
    };
    if (loss === 'before') {
      lose();
      return undefined;
    }
    pipeline.handleReadyForQuery = lose;
    pipeline.handleError = (error) => (error instanceof pg.DatabaseError ? lose() : fail(error));
    return query.apply(this, args);
  };
  return () => void (client.query = query);
}

/** Replaces the function by which apps send requests to each other. */
function loseRequests(): () => void {
  const { request } = http;
  http.request = ((...args: Parameters<typeof request>) => {
    const httpRequest = request(...args);
    const what = `${httpRequest.method} ${httpRequest.path}`;
    if (/^\/(?:healthz|readyz|metrics)/.test(httpRequest.path) || (plan?.of === 'work' && !isOfPlan()))
      return httpRequest;
    const loss = lossOf({ what, mayChange: !['GET', 'HEAD'].includes(httpRequest.method) });
    const broken = new Error('socket hang up');
    if (loss === 'before') httpRequest.destroy(broken);
    if (loss === 'after') {
      const emit = httpRequest.emit.bind(httpRequest) as (...emitted: unknown[]) => boolean;
      httpRequest.emit = (name: string | symbol, ...values: unknown[]) => {
        if (name !== 'response') return emit(name, ...values);
        httpRequest.destroy(broken);
        return true;
      };
    }
    return httpRequest;
  }) as typeof request;
  return () => void (http.request = request);
}

/** Until the returned function is called, `losing` loses trips to the database and to services. */
export function loseTrips(): () => void {
  const ends = [losePipelines(), loseRequests(), endKeptSessions];
  return () => {
    for (const end of ends) end();
  };
}

/** Versions in Redis whose trips can be lost. */
export function losableVersions(versions: Versions): Versions {
  const call = async <Result>(what: string, make: () => Promise<Result>): Promise<Result> => {
    const loss = isOfPlan() ? lossOf({ what, mayChange: false }) : undefined;
    if (loss === 'before') throw new Error('the connection is closed');
    const result = await make();
    if (loss === 'after') throw new Error('the connection is closed');
    return result;
  };
  return {
    raise: async (...options) => call('raise a version', async () => versions.raise(...options)),
    read: async (...options) => call('read versions', async () => versions.read(...options)),
  };
}
