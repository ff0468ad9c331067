import type { z } from 'zod';
import type { Contract, Contracts } from './contract.ts';

/** The OpenAPI extensions from which the gateway builds its route table. */
export const EXTENSIONS = {
  service: 'x-tocsin-service',
  scope: 'x-tocsin-scope',
  needs: 'x-tocsin-prerequisites',
  deprecation: 'x-tocsin-deprecation',
  deadline: 'x-deadline-seconds',
  wait: 'x-wait-seconds',
  cost: 'x-tocsin-cost',
  assigned: 'x-null-when-validated',
  tokenProperty: 'x-tocsin-token-property',
  bodyBytes: 'x-tocsin-body-bytes',
} as const;

type Input<Schema> = Schema extends z.ZodType ? z.input<Schema> : never;
/** A property that the example has exactly if the contract has the schema. */
type Example<C, Name extends string, As extends string = Name> =
  C extends Readonly<Record<Name, infer Schema>> ? Readonly<Record<As, Input<Schema>>> : unknown;
type ReplyExample<C extends Contract> = C['reply'] extends { readonly body: infer Schema }
  ? { readonly reply: Input<Schema> }
  : unknown;

/** The revision that the example of a PATCH is based on. */
type RevisionExample<C> = C extends { readonly precondition: true } ? { readonly revision: number } : unknown;

type StreamExample<C> = C extends { readonly stream: infer Schema }
  ? { readonly stream: readonly { readonly id: string; readonly event: string; readonly data: Input<Schema> }[] }
  : unknown;

type LinesExample<C> = C extends { readonly lines: infer Schema }
  ? { readonly lines: readonly Input<Schema>[] }
  : unknown;

type MarkdownExample<C> = C extends { readonly markdown: true } ? { readonly markdown: string } : unknown;

type HtmlExample<C> = C extends { readonly html: true } ? { readonly html: string } : unknown;

/**
 * What the API description says about an operation beyond its contract. The examples of requests work in the sample
 * workspace of a fresh installation, in the order of the description.
 */
type OperationDocumentation<C extends Contract> = {
  /** Markdown; what the operation does, and what its schemas do not say. */
  readonly description: string;
  // No examples of query parameters: the reference would send them with every request.
} & Example<C, 'params'> &
  Example<C, 'body'> &
  ReplyExample<C> &
  RevisionExample<C> &
  StreamExample<C> &
  LinesExample<C> &
  MarkdownExample<C> &
  HtmlExample<C>;

/** The documentation of every operation of a service; only the generator of the API description reads it. */
export type Documentation<C extends Contracts> = { readonly [Id in keyof C]: OperationDocumentation<C[Id]> };

/** A request that Tocsin sends to a receiver. */
export interface WebhookDocumentation {
  readonly summary: string;
  readonly description: string;
  readonly body: z.ZodObject;
  readonly example: unknown;
}

/** The documentation of one operation, without its specific types. */
export interface AnyDocumentation {
  readonly description: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly revision?: number;
  readonly reply?: unknown;
  readonly stream?: readonly { readonly id: string; readonly event: string; readonly data: unknown }[];
  readonly lines?: readonly unknown[];
  readonly markdown?: string;
  readonly html?: string;
}
