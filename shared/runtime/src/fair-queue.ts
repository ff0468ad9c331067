/** Milliseconds between two looks at those that wait. */
const LOOK = 100;

/** What limits leases. Every limit is infinite by default. */
export interface Limits<Holder> {
  /** Leases of all holders together. */
  all?: number;
  /** Leases of one holder. */
  holder?: number | ((holder: Holder) => number);
  /**
   * Nobody may hold more than what is still free of `all`. So n greedy holders get 1/(n+1) of all leases each, and one
   * with few is served at once, however greedy the others are (the dynamic threshold of switches with shared buffers).
   */
  leavesAsMuch?: boolean;
  /** A part of `all` that only this holder may use. */
  reserved?: { for: Holder; amount: number };
  /** How many of one holder wait at the same time; of all holders ten times as many. */
  waiting?: number;
  /** How long one waits; milliseconds. */
  wait?: number;
}

/** `holder`: it holds as many leases as it may itself. `all`: other holders have the leases. `gone`: nobody waits. */
export type LimitReason = 'holder' | 'all' | 'gone';

/** A lease that was not given. */
export class LimitReached extends Error {
  override readonly name = 'LimitReached';
  readonly limit: LimitReason;

  constructor(limit: LimitReason) {
    super(limit === 'gone' ? 'nobody waits for the lease any more' : `the limit of leases is reached: ${limit}`);
    this.limit = limit;
  }
}

/** The right to use a part of what is limited. */
export interface Lease {
  /** Adds to it if the limits allow that, and returns whether they do. */
  tryGrow(amount: number): boolean;
  /** Ends it. Calling it again has no effect. */
  release(): void;
}

export interface TakeOptions {
  /** Comes before others of its holder. */
  first?: boolean;
  /** Instead of the limit. */
  wait?: number;
  /** Whether nobody needs the lease any more. */
  isGone?: () => boolean;
}

interface HolderState {
  /** Its leases. */
  held: number;
  /** The number of the lease that it got last. */
  servedAt: number;
}

interface Waiter {
  first: boolean;
  /** The number of looks after which its wait ends. */
  until: number;
  isGone: (() => boolean) | undefined;
  grant: (lease: Lease) => void;
  refuse: (error: Error) => void;
}

/**
 * Gives leases within limits. Holders that wait are served in turns, one lease each: whoever got the last one longest ago
 * is next. Those of one holder come in the order of arrival. Time in which the event loop is blocked does not count as a wait.
 */
export class FairQueue<Holder> {
  readonly limits: Readonly<Limits<Holder>>;
  /** Those that hold leases, and while somebody waits, also those that were served since. */
  readonly #holders = new Map<Holder, HolderState>();
  #held = 0;
  #served = 0;
  /** In the order in which the holders were served last; those that were not come first. */
  readonly #queues = new Map<Holder, Waiter[]>();
  #waiting = 0;
  #looks = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: Limits<Holder>) {
    this.limits = limits;
  }

  /** Leases of all holders. */
  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#waiting;
  }

  heldBy(holder: Holder): number {
    return this.#holders.get(holder)?.held ?? 0;
  }

  /** Runs `work` with a lease. @throws LimitReached if none was given in time */
  async run<Result>(holder: Holder, work: () => Promise<Result>, options?: TakeOptions): Promise<Result> {
    const lease = await this.take(holder, options);
    try {
      return await work();
    } finally {
      lease.release();
    }
  }

  /** Gives a lease of this amount at once, past those that wait, if the limits allow it. */
  tryTake(holder: Holder, amount = 1): Lease | undefined {
    return this.#allows(holder, amount) ? this.#lease(holder, amount) : undefined;
  }

  /** Gives a lease, at once or after a wait. @throws LimitReached if none was given in time */
  take(holder: Holder, options: TakeOptions = {}): Lease | Promise<Lease> {
    const queue = this.#queues.get(holder);
    // Not past those of the same holder that wait already.
    return (queue === undefined ? this.tryTake(holder) : undefined) ?? this.#wait(holder, queue ?? [], options);
  }

  /** Refuses all that wait. */
  refuseAll(error: () => Error): void {
    this.#refuse(() => error());
  }

  async #wait(holder: Holder, queue: Waiter[], options: TakeOptions): Promise<Lease> {
    const { first = false, wait = this.limits.wait ?? Infinity, isGone } = options;
    const { waiting = Infinity } = this.limits;
    if (queue.length >= waiting || this.#waiting >= 10 * waiting) throw this.#refusal(holder);
    const { promise, resolve, reject } = Promise.withResolvers<Lease>();
    const until = this.#looks + Math.ceil(wait / LOOK) + 1;
    const waiter = { first, until, isGone, grant: resolve, refuse: reject };
    const next = first ? queue.findIndex((other) => !other.first) : -1;
    if (queue.length === 0) this.#addQueue(holder, queue);
    queue.splice(next === -1 ? queue.length : next, 0, waiter);
    this.#waiting += 1;
    // In the next phase of the event loop: after a block, what has arrived is read first.
    this.#timer ??= setInterval(() => setImmediate(() => this.#look()), LOOK).unref();
    return promise;
  }

  /** Before the queues of all holders that were served later. */
  #addQueue(holder: Holder, queue: Waiter[]): void {
    const served = this.#servedAt(holder);
    const queues = [...this.#queues];
    const after = queues.findIndex(([other]) => this.#servedAt(other) > served);
    this.#queues.set(holder, queue);
    if (after === -1) return;
    for (const [other, later] of queues.slice(after)) {
      this.#queues.delete(other);
      this.#queues.set(other, later);
    }
  }

  #servedAt(holder: Holder): number {
    return this.#holders.get(holder)?.servedAt ?? 0;
  }

  #look(): void {
    this.#looks += 1;
    this.#refuse((holder, { until, isGone }) => {
      if (isGone?.() === true) return new LimitReached('gone');
      return this.#looks >= until ? this.#refusal(holder) : undefined;
    });
  }

  /** Refuses those for whom there is an error. */
  #refuse(errorFor: (holder: Holder, waiter: Waiter) => Error | undefined): void {
    for (const [holder, queue] of this.#queues) {
      for (const waiter of [...queue]) {
        const error = errorFor(holder, waiter);
        if (error === undefined) continue;
        this.#remove(holder, queue, waiter);
        waiter.refuse(error);
      }
    }
  }

  #refusal(holder: Holder): LimitReached {
    const held = this.heldBy(holder);
    const isOwn = held >= this.#limitOf(holder) || (this.limits.leavesAsMuch === true && held > 0);
    return new LimitReached(isOwn ? 'holder' : 'all');
  }

  #limitOf(holder: Holder): number {
    const { holder: limit = Infinity } = this.limits;
    return typeof limit === 'number' ? limit : limit(holder);
  }

  #allows(holder: Holder, amount: number): boolean {
    const { all = Infinity, reserved, leavesAsMuch } = this.limits;
    const unused = reserved === undefined || reserved.for === holder ? 0 : reserved.amount - this.heldBy(reserved.for);
    const free = all - this.#held - Math.max(0, unused);
    const held = this.heldBy(holder);
    return amount <= free && held + amount <= this.#limitOf(holder) && (leavesAsMuch !== true || held + amount <= free);
  }

  #lease(holder: Holder, amount: number): Lease {
    let leased = amount;
    const state = this.#count(holder, amount);
    state.servedAt = this.#served += 1;
    return {
      tryGrow: (more) => {
        if (!this.#allows(holder, more)) return false;
        leased += more;
        this.#count(holder, more);
        return true;
      },
      release: () => {
        this.#count(holder, -leased);
        leased = 0;
        this.#serve();
      },
    };
  }

  #count(holder: Holder, change: number): HolderState {
    this.#held += change;
    let state = this.#holders.get(holder);
    if (state === undefined) this.#holders.set(holder, (state = { held: 0, servedAt: 0 }));
    state.held += change;
    if (state.held === 0 && this.#waiting === 0) this.#holders.delete(holder);
    return state;
  }

  #serve(): void {
    // A holder that was served is at the end, so that the loop comes to it again.
    for (const [holder, queue] of this.#queues) {
      const [waiter] = queue;
      if (waiter === undefined || !this.#allows(holder, 1)) continue;
      this.#queues.delete(holder);
      this.#queues.set(holder, queue);
      this.#remove(holder, queue, waiter);
      waiter.grant(this.#lease(holder, 1));
    }
  }

  #remove(holder: Holder, queue: Waiter[], waiter: Waiter): void {
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.#queues.delete(holder);
    this.#waiting -= 1;
    if (this.#waiting > 0) return;
    for (const [other, { held }] of this.#holders) if (held === 0) this.#holders.delete(other);
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
