import { DatabaseCallError } from './database-call-error.ts';
import type { RequestWork, ShareHolder } from '@tocsin/runtime';

/** How many connections of a pool may be in use at the same time, by whom, and how long others wait for one. */
export interface ShareLimits {
  /** All connections of the pool. */
  all: number;
  /** For all requests together. The rest is left to background work. */
  requests: number;
  /** For one holder of a share. */
  holder: number;
  /** For background work. */
  background: number;
  /** Requests of one holder that wait at the same time. */
  queue: number;
  /** Milliseconds that a request waits. */
  wait: number;
  /** Milliseconds that background work waits, and a request that writes and has begun. */
  longWait: number;
}

const WAITS = { queue: 200, wait: 5_000, longWait: 8_000 };

/** The shares of a pool that requests of several workspaces use. */
export const sharedLimits = (size: number): ShareLimits => ({
  ...WAITS,
  all: size,
  requests: size - Math.floor(size * 0.2),
  holder: Math.max(1, Math.ceil(size * 0.3)),
  background: Math.max(1, Math.ceil(size * 0.5)),
});

/** A pool that one piece of work has for itself. */
export const unsharedLimits = (size: number): ShareLimits => ({
  ...WAITS,
  all: size,
  requests: size,
  holder: size,
  background: size,
});

const BACKGROUND = Symbol('background');
type Holder = ShareHolder | typeof BACKGROUND;

/** The right to use one connection. Ends with `release`. */
export interface ConnectionPermit {
  release(): void;
}

/** Why no connection was given: the holder's share is used up, the whole pool is, or nobody waits any more. */
export type ShareRefusal = 'share' | 'pool' | 'client_gone';

interface Waiter {
  holder: Holder;
  request: RequestWork | undefined;
  since: number;
  grant: (permit: ConnectionPermit) => void;
  refuse: (error: Error) => void;
}

/** Those of one holder that wait: requests that have begun to write first, each kind in the order of arrival. */
interface Queue {
  begun: Waiter[];
  others: Waiter[];
}

/**
 * Divides a pool's connections among workspaces and background work: nobody uses more than a share, and those that wait
 * are served in turns, one connection each.
 */
export class ConnectionShares {
  readonly #limits: ShareLimits;
  readonly #now: () => number;
  readonly #isServing: () => boolean;
  readonly #onRefusal: (reason: ShareRefusal) => void;
  readonly #inUse = new Map<Holder, number>();
  #requestsInUse = 0;
  /** By holder; a holder moves to the end when one of its waiters is served. */
  readonly #queues = new Map<Holder, Queue>();
  #waiting = 0;

  /**
   * @param options.isServing whether the database responds; if not, a request that waited in vain is not told that its
   *   workspace's share is used up
   */
  constructor(options: {
    limits: ShareLimits;
    now: () => number;
    isServing: () => boolean;
    onRefusal: (reason: ShareRefusal) => void;
  }) {
    this.#limits = options.limits;
    this.#now = options.now;
    this.#isServing = options.isServing;
    this.#onRefusal = options.onRefusal;
  }

  /** All connections of the pool. */
  get size(): number {
    return this.#limits.all;
  }

  get inUse(): number {
    return this.#requestsInUse + this.#backgroundInUse;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Gives the right to use a connection, at once or after a wait.
   * @param options.nested the caller holds a connection: it must not wait for another one, since it might wait for itself
   * @throws DatabaseCallError `share_exceeded`, `busy` or `abandoned`
   */
  take(
    request: RequestWork | undefined,
    { nested }: { nested: boolean },
  ): ConnectionPermit | Promise<ConnectionPermit> {
    const holder = request?.holder ?? BACKGROUND;
    if (nested) {
      if (this.inUse < this.#limits.all) return this.#permit(holder);
      throw this.#refusal('pool');
    }
    const queue = this.#queues.get(holder);
    if (queue === undefined && this.#mayUse(holder)) {
      if (request !== undefined) request.hasBegun = true;
      return this.#permit(holder);
    }
    return this.#wait(holder, request, queue ?? this.#openQueue(holder));
  }

  /** Refuses those that have waited too long, and those whose client has gone. */
  refuseOverdue(): void {
    const now = this.#now();
    for (const waiter of this.#waiters()) {
      const { request, since } = waiter;
      const mayLeave = request !== undefined && (request.readOnly || !request.hasBegun);
      if (mayLeave && request.isClientGone()) this.#refuse(waiter, 'client_gone');
      else if (now - since >= (mayLeave ? this.#limits.wait : this.#limits.longWait)) {
        this.#refuse(waiter, mayLeave && this.#usesItsShare(waiter) ? 'share' : 'pool');
      }
    }
  }

  /** Refuses all that wait, because a connection cannot be opened for anybody. */
  refuseAll(error: () => Error): void {
    for (const waiter of this.#waiters()) {
      this.#remove(waiter);
      waiter.refuse(error());
    }
  }

  #waiters(): Waiter[] {
    return [...this.#queues.values()].flatMap(({ begun, others }) => [...begun, ...others]);
  }

  get #backgroundInUse(): number {
    return this.#inUse.get(BACKGROUND) ?? 0;
  }

  #mayUse(holder: Holder): boolean {
    const { all, requests, holder: share, background } = this.#limits;
    if (this.inUse >= all) return false;
    if (holder === BACKGROUND) return this.#backgroundInUse < background;
    return this.#requestsInUse < requests && (this.#inUse.get(holder) ?? 0) < share;
  }

  #permit(holder: Holder): ConnectionPermit {
    this.#count(holder, 1);
    let released = false;
    return {
      release: () => {
        if (released) return;
        released = true;
        this.#count(holder, -1);
        this.#serveWaiting();
      },
    };
  }

  #count(holder: Holder, change: 1 | -1): void {
    const count = (this.#inUse.get(holder) ?? 0) + change;
    if (count === 0) this.#inUse.delete(holder);
    else this.#inUse.set(holder, count);
    if (holder !== BACKGROUND) this.#requestsInUse += change;
  }

  #openQueue(holder: Holder): Queue {
    const queue = { begun: [], others: [] };
    this.#queues.set(holder, queue);
    return queue;
  }

  async #wait(holder: Holder, request: RequestWork | undefined, queue: Queue): Promise<ConnectionPermit> {
    const { promise, resolve, reject } = Promise.withResolvers<ConnectionPermit>();
    const waiter: Waiter = { holder, request, since: this.#now(), grant: resolve, refuse: reject };
    const isBegun = request !== undefined && request.hasBegun && !request.readOnly;
    (isBegun ? queue.begun : queue.others).push(waiter);
    this.#waiting += 1;
    if (holder !== BACKGROUND && queue.begun.length + queue.others.length > this.#limits.queue) {
      this.#refuse(waiter, !isBegun && this.#usesItsShare(waiter) ? 'share' : 'pool');
    }
    return promise;
  }

  /** Gives free connections to the holders in turns. */
  #serveWaiting(): void {
    for (const [holder, { begun, others }] of this.#queues) {
      if (this.inUse >= this.#limits.all) return;
      if (!this.#mayUse(holder)) continue;
      const waiter = begun[0] ?? others[0];
      if (waiter === undefined) continue;
      this.#remove(waiter);
      if (waiter.request !== undefined) waiter.request.hasBegun = true;
      waiter.grant(this.#permit(holder));
      // To the end; the loop comes to it again if there are more free connections.
      const rest = this.#queues.get(holder);
      if (rest === undefined) continue;
      this.#queues.delete(holder);
      this.#queues.set(holder, rest);
    }
  }

  #remove(waiter: Waiter): void {
    const queue = this.#queues.get(waiter.holder);
    if (queue === undefined) return;
    for (const list of [queue.begun, queue.others]) {
      const index = list.indexOf(waiter);
      if (index === -1) continue;
      list.splice(index, 1);
      this.#waiting -= 1;
    }
    if (queue.begun.length + queue.others.length === 0) this.#queues.delete(waiter.holder);
  }

  #refuse(waiter: Waiter, reason: ShareRefusal): void {
    this.#remove(waiter);
    waiter.refuse(this.#refusal(reason));
  }

  #refusal(reason: ShareRefusal): DatabaseCallError {
    this.#onRefusal(reason);
    return refusals[reason]();
  }

  /** Whether it waits for its own requests, which the database executes, and for nobody else. */
  #usesItsShare({ holder }: Waiter): boolean {
    return (this.#inUse.get(holder) ?? 0) >= this.#limits.holder && this.#isServing();
  }
}

const refusals: Record<ShareRefusal, () => DatabaseCallError> = {
  share: () => new DatabaseCallError('share_exceeded', 'all connections of the share are in use'),
  pool: () => new DatabaseCallError('busy', 'all connections of the pool are in use'),
  client_gone: () => new DatabaseCallError('abandoned', 'the client has gone'),
};
