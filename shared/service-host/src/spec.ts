import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import type { InternalRoute, Route, WaitingLeases } from '@tocsin/http';
import type { HttpAppOptions, Protocol } from '@tocsin/http/app';
import type { ConsumerSpec } from '@tocsin/messaging';
import type { ReadinessCheck } from '@tocsin/runtime';

/** Background work that runs until it is stopped. */
export interface ServiceWorker {
  /** Starts nothing new, and waits for work in progress. */
  stop(): Promise<void>;
}

/** A connection to another service or server that belongs to this service. */
export interface ServiceClient {
  /** Its line in `/readyz`, if it has one. */
  readonly readinessCheck?: ReadinessCheck;
  /** @throws Error if it is a server that cannot be used, whatever it does later */
  refuseUnusable?(): Promise<void>;
  close(): void | Promise<void>;
}

/** Work that repeats; the first run is soon after the start. See `startPeriodicTask`. */
export interface PeriodicTaskSpec {
  /** As it appears in a log message: "deleting old data". */
  name: string;
  /** Milliseconds; default: an hour. */
  interval?: number;
  /** Returns whether there is more to do at once. */
  work: () => Promise<boolean>;
}

/** An HTTP server: an address and what it serves there. */
export interface ServerSpec {
  handler: RequestListener;
  address: { host: string; port: number };
  /** Called for every new connection; may destroy it. */
  onConnection?: (socket: Socket) => void;
}

/** What differs from service to service. Only the routes are required. */
export interface ServiceSpec<Name extends string = never> {
  routes: readonly Route[];
  internalRoutes?: readonly InternalRoute[];
  protocols?: readonly Protocol[];
  /** Names the caller among those who may see something; default: without names. */
  viewerOf?: HttpAppOptions['viewerOf'];
  /** For routes that wait; default: the places of the contract. */
  waitingLeases?: WaitingLeases;
  /** Where routes, internal routes, health and metrics are served; default: the `http` address of the configuration. */
  address?: ServerSpec['address'];
  /**
   * Additional servers, by name. They open after the service's own server, whose URL they are given, and are drained
   * before it, in their order.
   */
  servers?: (ownUrl: string) => Readonly<Record<Name, ServerSpec>>;
  /** With consumers, expired inbox rows are deleted as well. */
  consumers?: readonly ConsumerSpec[];
  periodicTasks?: readonly PeriodicTaskSpec[];
  /** Already started. They stop with the consumers and periodic tasks, after the last response. */
  workers?: readonly ServiceWorker[];
  /**
   * Already started. For work that takes long, such as requests to other servers: they start nothing new as soon as the
   * service stops and finish while the last requests are handled. The relay still publishes what they add to the
   * outbox.
   */
  dispatchers?: readonly ServiceWorker[];
  /** Closed in their order when all work has stopped. */
  clients?: readonly ServiceClient[];
}
