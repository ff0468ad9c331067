/** Settings of a client, which throws a TypeError without an address and a token. */
export interface TocsinOptions {
  /** The address of the workspace: `https://acme.tocsin.example.com`. */
  baseUrl: string;
  /** The token of an API key, `tcs_…`. Null in a page that the workspace serves: its requests have the cookie of a session. */
  token: string | null;
  /** Repetitions of a request that is safe to repeat; default 5. */
  retries?: number | undefined;
  /** Milliseconds for one attempt; default: 5,000 more than the operation may take. */
  timeout?: number | undefined;
  /** Instead of the global `fetch`. */
  fetch?: typeof fetch | undefined;
}

/** Options of any call. */
export interface CallOptions {
  /** Ends the call, which rejects with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one attempt. */
  timeout?: number | undefined;
  retries?: number | undefined;
}

/** Options of a write. */
export interface WriteOptions extends CallOptions {
  /** Checks the request and carries out nothing. What only the write itself assigns is null. */
  validateOnly?: boolean | undefined;
}

/** Options of a create. */
export interface KeyedOptions extends WriteOptions {
  /** Default: a new one for each call, which its repetitions keep. */
  idempotencyKey?: string | undefined;
}

/** Options of a change of a resource. */
export interface RevisionOptions extends WriteOptions {
  /** The revision that the change is based on. If it is not the current one: `PreconditionFailedError`. */
  ifRevision: number;
}

/** Options of a change that is made again when somebody was faster. */
export interface UpdateOptions extends CallOptions {
  /** The most changes that are tried; default 20. */
  attempts?: number | undefined;
}

/** The part of dotted paths behind a property: `id` of `incident.id` for `incident`. */
type Behind<Paths extends string, Name> = Name extends string
  ? Paths extends `${Name}.${infer Rest}`
    ? Rest
    : never
  : never;

/** The reply to a write that was only validated: null at these dotted paths, which only the real request assigns. */
export type Validated<Reply, Paths extends string> = {
  [Name in keyof Reply]: Name extends Paths
    ? null
    : [Behind<Paths, Name>] extends [never]
      ? Reply[Name]
      : Validated<Reply[Name], Behind<Paths, Name>>;
};
