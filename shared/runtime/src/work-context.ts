import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, context, type ContextManager, ROOT_CONTEXT } from '@opentelemetry/api';
import type { DryRun } from './dry-run.ts';

/** Who has leases of connections and turns: a workspace by its ID, or a calling service by its name. */
export type LeaseHolder = number | string;

export interface RequestWorkOptions {
  readonly holder: LeaseHolder;
  /** Its statements write nothing that a client waits for: they may be cancelled when they take long. */
  readonly readOnly: boolean;
  /**
   * Whether the client has closed its connection before the end of the response: then nothing more is begun or committed.
   * The gateway, the client of a service, keeps that of a write, unless its credential has ended.
   */
  readonly isClientGone: () => boolean;
  /** Bytes of its body. */
  readonly bodyBytes?: number | undefined;
  /** Nothing of it lasts. */
  readonly dryRun?: DryRun | undefined;
  /** The names of the caller among those who may see something; undefined: a service calls, which sees all. */
  readonly viewer?: readonly string[] | undefined;
}

/** A request that is being handled, as far as waits and deadlines depend on it. */
export class RequestWork implements RequestWorkOptions {
  readonly holder: LeaseHolder;
  readonly readOnly: boolean;
  readonly isClientGone: () => boolean;
  readonly dryRun: DryRun | undefined;
  readonly viewer: readonly string[] | undefined;
  /** Of its body; of the item that it works on, if it has several. */
  bodyBytes: number;
  /** It has had a connection to the database before. */
  hasBegun = false;
  #runningStatements = 0;
  #runningSince = 0;
  #statementTime = 0;

  constructor(options: RequestWorkOptions, { dryRun }: Pick<RequestWorkOptions, 'dryRun'> = options) {
    this.holder = options.holder;
    this.readOnly = options.readOnly;
    this.isClientGone = options.isClientGone;
    this.dryRun = dryRun;
    this.viewer = options.viewer;
    this.bodyBytes = options.bodyBytes ?? 0;
  }

  statementStarted(now: number): void {
    if (this.#runningStatements === 0) this.#runningSince = now;
    this.#runningStatements += 1;
  }

  statementEnded(now: number): void {
    this.#runningStatements -= 1;
    if (this.#runningStatements === 0) this.#statementTime += now - this.#runningSince;
  }

  /** Milliseconds in which at least one of its statements ran. */
  statementTime(now: number): number {
    return this.#statementTime + (this.#runningStatements === 0 ? 0 : now - this.#runningSince);
  }
}

interface Work {
  /** Undefined in background work. */
  request: RequestWork | undefined;
  /** The pools of which a transaction is open around the code that runs now. */
  transactions: readonly object[];
  /** The span that the code belongs to, as OpenTelemetry keeps it. */
  trace: Context;
}

const BACKGROUND: Work = { request: undefined, transactions: [], trace: ROOT_CONTEXT };
const storage = new AsyncLocalStorage<Work>();

/** Runs `work` and everything that it calls and awaits for a request. */
export const runForRequest = <Result>(request: RequestWork, work: () => Result): Result =>
  storage.run({ request, transactions: [], trace: currentTrace() }, work);

/**
 * Runs `work` for nobody in particular. For work that a request only starts, such as a worker that it wakes: otherwise
 * that would use the request's share and be cancelled with it.
 */
export const runInBackground = <Result>(work: () => Result): Result => storage.run(BACKGROUND, work);

/** The request that the current code works for; `undefined` in background work. */
export const currentRequest = (): RequestWork | undefined => storage.getStore()?.request;

/** Runs `work` as the content of a transaction on a connection of `pool`. */
export function runInTransaction<Result>(pool: object, work: () => Result): Result {
  const { request, transactions, trace } = storage.getStore() ?? BACKGROUND;
  return storage.run({ request, transactions: [...transactions, pool], trace }, work);
}

/** Whether the current code is the content of a transaction on a connection of `pool`. */
export const isInTransaction = (pool: object): boolean => storage.getStore()?.transactions.includes(pool) === true;

const currentTrace = (): Context => storage.getStore()?.trace ?? ROOT_CONTEXT;

/**
 * Keeps OpenTelemetry's context with the rest of the work: code needs one storage, and background work that a request
 * starts does not belong to the request's trace. Registered without an SDK, too, so that a client's trace is passed on.
 */
const contextManager: ContextManager = {
  active: currentTrace,
  with: (trace, work, thisArg, ...args) =>
    storage.run({ ...(storage.getStore() ?? BACKGROUND), trace }, () => work.apply(thisArg, args)),
  bind: (trace, target) =>
    typeof target === 'function'
      ? (((...args: unknown[]) => context.with(trace, target as never, undefined, ...args)) as typeof target)
      : target,
  enable: () => contextManager,
  disable: () => contextManager,
};
context.setGlobalContextManager(contextManager);
