import type { QueueDefinition } from '@tocsin/contracts';
import type { InternalRoute, Route } from '@tocsin/http';
import type { EventHandlers } from '@tocsin/messaging';
import type { Dependency } from '@tocsin/runtime';

/** Something that was started and works until it is stopped. */
export interface ServiceWorker {
  /** Begins nothing more, and waits for what is under way. */
  stop(): Promise<void>;
}

/** A connection of the service's own to something outside. */
export interface ServiceClient {
  /** How `/readyz` sees it, if it does. */
  readonly dependency?: Dependency;
  close(): void | Promise<void>;
}

/** A queue, and what its events do to the service's data. */
export interface ConsumerSpec {
  queue: QueueDefinition;
  handlers: EventHandlers;
  /** Called after an event's transaction has committed. */
  onCommit?: () => void;
}

/** Work that comes round; see `startSweep`. */
export interface SweepSpec {
  /** In the words of a log line: "forgetting old data". */
  name: string;
  /** Milliseconds; an hour unless told. */
  interval?: number;
  /** Answers whether there is more to do at once. */
  work: () => Promise<boolean>;
}

/** What is one service's own: all lists may be left out but that of its routes. */
export interface ServiceSpec {
  routes: readonly Route[];
  internalRoutes?: readonly InternalRoute[];
  /** Their inbox is swept as well. */
  consumers?: readonly ConsumerSpec[];
  sweeps?: readonly SweepSpec[];
  /** Already started. They stop when the last request is answered, together with consumers and sweeps. */
  workers?: readonly ServiceWorker[];
  /**
   * Already started too, with work that takes long, such as requests to the outside. They begin nothing more from the moment
   * of stopping, finish while the last requests are answered, and what they leave in the outbox is still published.
   */
  dispatchers?: readonly ServiceWorker[];
  /** Closed when all work has stopped, in their order. */
  clients?: readonly ServiceClient[];
}
