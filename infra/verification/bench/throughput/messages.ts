/**
 * A request. `{n}` in its headers and its body is replaced by a number that no other request of the run has, and
 * `{revision}` by the revision that its last response had.
 */
export interface BenchRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  /** Lines, `Host` among them. */
  headers: string[];
  /** JSON. */
  body?: string;
  /** The revision at first, if the request has to name it. */
  revision?: number;
}

export interface Address {
  host: string;
  port: number;
}

export interface LoadRequest {
  /** Of which each client uses one. */
  addresses: readonly Address[];
  clients: number;
  /** At least as many as clients. Each client sends its own part of them in turns, so that none is sent twice at once. */
  requests: BenchRequest[];
  /** The load ends after this time, or after `count` requests. */
  seconds: number;
  count: number;
  /** The number of the first request. */
  first: number;
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
  /** Of an average response. */
  bytes: number;
  /** How many responses had an error status, by status and beginning of the body. */
  failures: Record<string, number>;
  /** The number that the next load begins with. */
  next: number;
}
