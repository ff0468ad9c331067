/**
 * `contracts` declares operations as data: method, path, schemas, scope, needs, errors, cost and reply. Validation,
 * types of handlers, the API description, the routes of the gateway and all clients follow from them, so a rule is
 * written once. `implement` attaches the handlers; a contract without one does not compile. `operation-errors.ts` says
 * which error codes an operation may have, and in tests any other one is a failure. `preconditions.ts` reads the
 * headers of revisions and idempotency keys, `deprecation.ts` makes those of deprecated operations, and
 * `validate-only.ts` the response of a write that is only validated (contract: Revisions, Idempotency, Versioning,
 * Validating a write). Nothing here has state.
 */
import { entriesOf, type Logger } from '@tocsin/runtime';
import type { z } from 'zod';
import type { Deprecation } from './deprecation.ts';
import type { DomainError, ErrorCode } from '../errors/errors.ts';
import type { EventStream, LineStream } from '../streams/event-stream.ts';
import type { Json, JsonRows } from '../json/json-rows.ts';
import type { Prerequisite, Principal, Scope } from '@tocsin/schemas';
import type { DocumentLimits } from '../json/json.ts';
import type { WaitingRequest } from '../streams/waiting.ts';

/** Milliseconds. */
export const DEFAULT_DEADLINE = 10_000;

/** The cost of a request: `base`, and for each occurrence of a query parameter that makes it expensive its weight. */
export interface Cost {
  readonly base: number;
  readonly parameters?: Readonly<Record<string, number>>;
}

/**
 * A header of a service's response: what the request has cost besides the cost of its operation, as a decimal. For what is
 * known only afterwards; the gateway keeps it to itself.
 */
export const COST_HEADER = 'x-tocsin-cost';

/** As that: how many bytes the service has fetched from elsewhere for a write, as a decimal. */
export const FETCHED_BYTES_HEADER = 'x-tocsin-fetched-bytes';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

/**
 * One operation of the API as plain data: what it accepts, requires and returns, without its handler. Input validation,
 * the handler's types, the API description and the gateway's route table derive from it (contract: Requests).
 */
export interface Contract {
  readonly method: Method;
  /** The whole path, with `{parameters}`. */
  readonly path: string;
  readonly summary: string;
  readonly tag: string;
  /** The scope that a key needs; of several, one is enough, and the handler returns what the key may read. */
  readonly scope: Scope | readonly Scope[];
  /** Whether the token may also be the password of HTTP Basic authentication, for clients that can send nothing else. */
  readonly basic?: boolean;
  /** The property of the body that has the token if the request has none, for clients of other systems' protocols. */
  readonly tokenProperty?: string;
  /** What the operation requires of the key's owner and of the incident. */
  readonly needs?: readonly Prerequisite[];
  readonly params?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Without one, a write accepts no body or an empty object. */
  readonly body?: z.ZodObject;
  /** What the body may have, if not what all others may. */
  readonly document?: Partial<DocumentLimits>;
  /** Error codes of this operation beyond those that follow from its other properties, see `errorCodesOf`. */
  readonly errors?: readonly ErrorCode[];
  /** The error code for an invalid body; default `invalid_request`. An unknown property is always `unknown_field`. */
  readonly bodyFault?: ErrorCode;
  /** An empty body counts as `{}`. */
  readonly bodyOptional?: boolean;
  /** The body is a file instead of JSON, which the handler gets as `bytes`: its content says what it is. */
  readonly upload?: Upload;
  /** Accepts an Idempotency-Key. */
  readonly idempotent?: boolean;
  /** Requires If-Service-Resource-Version. */
  readonly precondition?: boolean;
  /** Milliseconds from the whole request at the gateway to the beginning of the response; default `DEFAULT_DEADLINE`. */
  readonly deadline?: number;
  /**
   * Milliseconds that a request may wait for something to happen, which the deadline includes. Then it has a `waiting`,
   * and neither counts among the requests under way nor holds a lease of one (contract: Waiting and streaming).
   */
  readonly wait?: number;
  /** The response may also be a stream of server-sent events with data of this schema, for operations with `wait`. */
  readonly stream?: z.ZodType;
  /** The response is a stream of objects of this schema, one a line, for operations with `wait`. */
  readonly lines?: z.ZodType;
  /** The response may also be a Markdown document with the same content (contract: Requests). */
  readonly markdown?: boolean;
  /** The response may also be an HTML page with the same content. */
  readonly html?: boolean;
  /** What a request counts toward the workspace's limit of cost; default: 1 (contract: Limits). */
  readonly cost?: Cost;
  readonly deprecated?: Deprecation;
  readonly reply: {
    readonly status: number;
    /** Without one, the response has no body. */
    readonly body?: z.ZodType;
    /** The response is a file of one of these media types instead. */
    readonly file?: readonly string[];
    /** The response is one versioned resource, with its revision in a header. */
    readonly versioned?: boolean;
    /**
     * The properties of the body, with dotted paths, that exist only once the write has happened: IDs and numbers of new
     * rows, secrets. They are null in the response to a write that is only validated. `groups[].id` is that of some items
     * of a list, which the reply names.
     */
    readonly assigned?: readonly string[];
    /** For a create with an Idempotency-Key: the path of what it has made, with properties of the body: `{incident.id}`. */
    readonly resource?: string;
  };
}

/** A file as a body. */
export interface Upload {
  readonly maxBytes: number;
  /** Media types that a client may give it, also as `image/*`. */
  readonly types: readonly string[];
}

/** The operations of a service by their IDs, which are unique over all services. */
export type Contracts = Readonly<Record<string, Contract>>;

/** The first part of a contract, on one line. */
export const endpoint = <Verb extends Uppercase<Method>>(method: Verb, path: string, summary: string) => ({
  method: method.toLowerCase() as Lowercase<Verb>,
  path,
  summary,
});

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : Record<never, never>;
type PartOf<C, Name extends string> =
  C extends Readonly<Record<Name, infer Schema>> ? OutputOf<Schema> : Record<never, never>;

/** A request as its handler receives it: parsed, validated and typed. */
export interface RouteRequest<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The exact bytes of the body; empty if there was none. */
  bytes: Buffer;
  principal: Principal;
  requestId: string;
  /** The ID of the operation; idempotency keys are separate for each operation. */
  routeId: string;
  /** From If-Service-Resource-Version, for contracts with `precondition`. */
  expectedRevision: number;
  /** From Idempotency-Key, for contracts with `idempotent`. */
  idempotencyKey: string | undefined;
  /** How long the outcome of a key is kept. */
  idempotencyHours: number;
  log: Logger;
  /** What a failure is to the client, for a response that has the outcomes of several writes. It logs unexpected ones. */
  toError: (error: unknown) => DomainError;
}

/** The request of one contract. */
export type RequestOf<C extends Contract> = RouteRequest<PartOf<C, 'params'>, PartOf<C, 'query'>, PartOf<C, 'body'>> &
  (C extends { readonly wait: number } ? { waiting: WaitingRequest } : unknown) &
  // Whether the client wants the Markdown document.
  (C extends { readonly markdown: true } ? { wantsMarkdown: boolean } : unknown) &
  // Whether it wants the HTML page.
  (C extends { readonly html: true } ? { wantsHtml: boolean } : unknown);

/** A handler's response. `body` is serialised as JSON; `text`, such as a stored response, is sent unchanged. */
export interface Reply<Body = unknown> {
  /** Default: the status of the contract. */
  status?: number;
  body?: Body;
  text?: string;
  /** Instead of a body, if the client wants the Markdown document and the contract has one. */
  markdown?: string;
  /** Instead of a body, if the contract has a file. */
  file?: { bytes: Buffer; mediaType: string };
  /** The same as an HTML page. */
  html?: string;
  /** Sent as Service-Resource-Version. */
  revision?: number | undefined;
  headers?: Record<string, string>;
  /** Further properties as those that the contract lists as assigned: of items of lists, as `groups.2.id`. */
  assigned?: readonly string[];
  /** Instead of a body, if the client wants a stream and the contract has one. */
  stream?: EventStream;
  /** Instead of a body, if the contract has lines. */
  lines?: LineStream;
}

/** A body whose properties may be `Json`, and its lists `JsonRows`. */
type WithJson<Body> = unknown extends Body
  ? Body
  : {
      [Name in keyof Body]:
        | Body[Name]
        | (Body[Name] extends readonly (infer Row)[]
            ? JsonRows<Row>
            : Body[Name] extends object
              ? Json<Body[Name]>
              : never);
    };

type ReplyOf<C extends Contract> = C['reply'] extends { readonly body: infer Schema extends z.ZodType }
  ? Reply<WithJson<z.input<Schema>>>
  : Reply<never>;

/** The functions that carry out a service's operations, by operation ID and typed by its contracts. */
export type Handlers<C extends Contracts> = {
  readonly [Id in keyof C]: (request: RequestOf<C[Id]>) => Promise<ReplyOf<C[Id]>>;
};

/** A request with a valid key, its scope and its seat that was refused, by its form or by its handler. */
interface Refusal {
  principal: Principal;
  error: DomainError;
  /** What has arrived of the body. */
  bytes: Buffer;
}

/** An operation with its handler, without its specific types, for code that treats all operations alike. */
export interface Route extends Contract {
  readonly id: string;
  handle: (request: RouteRequest<unknown, unknown, unknown>) => Promise<Reply>;
  /** Keeps a record of a write that was refused, which was not only to be validated. Its failure is logged. */
  onRefusal?: ((refusal: Refusal) => Promise<void>) | undefined;
}

/** Attaches a handler to every contract. */
export function implement<C extends Contracts>(
  contracts: C,
  handlers: Handlers<C>,
  onRefusal: { readonly [Id in keyof C]?: Route['onRefusal'] } = {},
): Route[] {
  return entriesOf(contracts).map(([id, contract]) => ({
    ...contract,
    id,
    handle: handlers[id] as unknown as Route['handle'],
    onRefusal: onRefusal[id],
  }));
}

/** A route for calls between services; the gateway never forwards to it. */
export interface InternalRoute {
  method: 'get' | 'post';
  path: string;
  /** The services that may call it. */
  callers: readonly string[];
  /** The query of a GET, the body of a POST. */
  input: z.ZodObject;
  handle: (input: Record<string, unknown>) => Promise<unknown>;
}

interface InternalRouteSpec<Input extends z.ZodObject> {
  path: string;
  callers: readonly string[];
  handle: (input: z.output<Input>) => Promise<unknown>;
}

/** A read. */
export function internalRoute<Query extends z.ZodObject>({
  query: input,
  ...spec
}: InternalRouteSpec<Query> & { query: Query }): InternalRoute {
  return { ...spec, method: 'get', input } as unknown as InternalRoute;
}

/** A write. It may be called twice: a call whose connection breaks is repeated. */
export function internalCommand<Body extends z.ZodObject>({
  body: input,
  ...spec
}: InternalRouteSpec<Body> & { body: Body }): InternalRoute {
  return { ...spec, method: 'post', input } as unknown as InternalRoute;
}
