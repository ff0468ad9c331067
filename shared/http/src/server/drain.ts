import type { IncomingMessage } from 'node:http';

/** The end of a server: it announces it, then accepts no new connections, and waits for the requests in progress. */
export interface Drain {
  readonly hasBegun: boolean;
  /** Calling it again has no effect. */
  begin(): void;
  /** Calls the listener when the drain begins, or at once. Returns the function that removes it. */
  onBegin(listener: () => void): () => void;
}

export function newDrain(): Drain {
  const listeners = new Set<() => void>();
  let hasBegun = false;
  return {
    get hasBegun() {
      return hasBegun;
    },
    begin: () => {
      hasBegun = true;
      for (const listener of listeners) listener();
      listeners.clear();
    },
    onBegin: (listener) => {
      if (hasBegun) listener();
      else listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

const drains = new WeakMap<IncomingMessage, Drain>();

/** For the server that received the request. */
export const setDrain = (request: IncomingMessage, drain: Drain) => drains.set(request, drain);

/**
 * The drain of the server that received a request. A request that waits for something ends its wait then, because the
 * server would wait for it.
 */
export const drainOf = (request: IncomingMessage): Drain => drains.get(request) ?? newDrain();
