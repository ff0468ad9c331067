import type { Logger } from '@tocsin/runtime';
import type { z } from 'zod';
import type { Deprecation } from './deprecation.ts';
import type { ErrorCode } from './errors.ts';
import type { Prerequisite, Principal, Scope } from './principal.ts';

export type Method = 'get' | 'post' | 'patch' | 'put' | 'delete';

/** A request as its handler gets it: read, checked and typed. */
export interface RouteRequest<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  /** The body's exact bytes; empty where there was none. */
  bytes: Buffer;
  principal: Principal;
  requestId: string;
  /** The route's ID: what an idempotency key belongs to. */
  routeId: string;
  /** From If-Service-Resource-Version, on routes that declare `precondition`. */
  expectedRevision: number;
  /** From Idempotency-Key, on routes that declare `idempotent`. */
  idempotencyKey: string | undefined;
  log: Logger;
}

/** An answer. `body` is serialised; `text` is sent as it is, for an answer that was stored. */
export interface Reply {
  /** The route's declared status unless given. */
  status?: number;
  body?: unknown;
  text?: string;
  /** Sent as Service-Resource-Version. */
  revision?: number | undefined;
  headers?: Record<string, string>;
}

export interface RouteSpec<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodObject> {
  /** The operation's ID in the API description; unique over all services. */
  id: string;
  method: Method;
  /** Whole, with `{parameters}`. */
  path: string;
  summary: string;
  description?: string;
  tag: string;
  scope: Scope;
  /** What the operation asks of the key's owner, and of the incident. */
  needs?: readonly Prerequisite[];
  params?: Params;
  query?: Query;
  /** Without one, a write takes no body, or an empty object. */
  body?: Body;
  /** The code of a body that breaks its schema; `invalid_request` unless given. An unknown property is `unknown_field` always. */
  bodyFault?: ErrorCode;
  /** An empty body counts as `{}`. */
  bodyOptional?: boolean;
  idempotent?: boolean;
  precondition?: boolean;
  deprecated?: Deprecation;
  reply: {
    status: number;
    /** Without one, the answer is empty. */
    body?: z.ZodType;
    /** The answer is one versioned resource and carries its revision in a header. */
    versioned?: boolean;
  };
  handle: (request: RouteRequest<z.output<Params>, z.output<Query>, z.output<Body>>) => Promise<Reply>;
}

/** A declared route with its types forgotten, for the things that treat all routes alike. */
export type Route = RouteSpec<z.ZodObject, z.ZodObject, z.ZodObject>;

/**
 * Declares a route once: the handler's types, the checks on what comes in, the API description and, through that, the
 * gateway's route table all come from here (contract: Requests).
 */
export function route<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodObject = z.ZodObject<Record<never, never>>,
>(spec: RouteSpec<Params, Query, Body>): Route {
  return spec;
}

/** A route between our own services, never reached through the gateway. */
export interface InternalRoute {
  path: string;
  query: z.ZodObject;
  handle: (query: Record<string, unknown>) => Promise<unknown>;
}

export function internalRoute<Query extends z.ZodObject>(spec: {
  path: string;
  query: Query;
  handle: (query: z.output<Query>) => Promise<unknown>;
}): InternalRoute {
  return spec as unknown as InternalRoute;
}
