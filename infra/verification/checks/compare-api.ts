import { jsonEqual } from '@tocsin/http';
import type { ApiDescription, ApiOperation, ApiSchema } from '../../../gateway/src/description.ts';

/** A schema with the description that its references point into. */
interface Part {
  schema: ApiSchema;
  schemas: Readonly<Record<string, ApiSchema>>;
}

/** `request`: what a client may send. `response`: what a client may rely on. */
type Direction = 'request' | 'response';

/**
 * Returns what a client of `before` could not do any more, or not rely on any more, one sentence each. New operations,
 * properties of responses, optional properties of requests and values of enumerations in responses are compatible
 * (contract: Versioning).
 */
export function breakingChanges(before: ApiDescription, after: ApiDescription): string[] {
  const comparison = new Comparison(before, after);
  for (const [path, methods] of Object.entries(before.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      comparison.operation(`${method.toUpperCase()} ${path}`, operation, after.paths[path]?.[method]);
    }
  }
  return comparison.changes;
}

class Comparison {
  readonly changes: string[] = [];
  readonly #before: Part['schemas'];
  readonly #after: Part['schemas'];
  /** The pairs of named schemas that are compared already. */
  readonly #compared = new Set<string>();

  constructor(before: ApiDescription, after: ApiDescription) {
    this.#before = before.components?.schemas ?? {};
    this.#after = after.components?.schemas ?? {};
  }

  operation(name: string, before: ApiOperation, after: ApiOperation | undefined): void {
    if (after === undefined) {
      this.#report(name, 'was removed');
      return;
    }
    if (before.operationId !== after.operationId) this.#report(name, `is now named ${after.operationId}`);
    // Each scope that was enough must still be.
    const scopes = new Set(scopesOf(after));
    if (scopesOf(before).some((scope) => !scopes.has(scope))) this.#report(name, 'requires another scope');
    const needs = new Set((before['x-tocsin-prerequisites'] ?? []) as string[]);
    for (const need of (after['x-tocsin-prerequisites'] ?? []) as string[]) {
      if (!needs.has(need)) this.#report(name, `now requires ${need}`);
    }
    this.#parameters(name, before, after);
    this.#requestBody(name, before, after);
    this.#responses(name, before, after);
  }

  #parameters(name: string, before: ApiOperation, after: ApiOperation): void {
    const keyOf = ({ in: place, name: parameter }: { in: string; name: string }) => `${place} parameter ${parameter}`;
    const now = new Map((after.parameters ?? []).map((parameter) => [keyOf(parameter), parameter]));
    const formerKeys = new Set((before.parameters ?? []).map(keyOf));
    for (const parameter of before.parameters ?? []) {
      const current = now.get(keyOf(parameter));
      if (current === undefined) {
        this.#report(`${name}: ${keyOf(parameter)}`, 'was removed');
        continue;
      }
      if (current.required === true && parameter.required !== true) {
        this.#report(`${name}: ${keyOf(parameter)}`, 'is now required');
      }
      this.#schemas(`${name}: ${keyOf(parameter)}`, 'request', parameter.schema, current.schema);
    }
    for (const [key, parameter] of now) {
      if (!formerKeys.has(key) && parameter.required === true) this.#report(`${name}: ${key}`, 'is new and required');
    }
  }

  #requestBody(name: string, before: ApiOperation, after: ApiOperation): void {
    const place = `${name}: body`;
    if (before.requestBody === undefined) {
      if (after.requestBody?.required === true) this.#report(place, 'is now required');
      return;
    }
    if (after.requestBody === undefined) {
      this.#report(place, 'was removed');
      return;
    }
    if (after.requestBody.required === true && before.requestBody.required !== true) {
      this.#report(place, 'is now required');
    }
    for (const [type, { schema }] of Object.entries(before.requestBody.content)) {
      const current = after.requestBody.content[type];
      if (current === undefined) this.#report(place, `no longer accepts ${type}`);
      else this.#schemas(place, 'request', schema, current.schema);
    }
  }

  /** Error responses have one schema for all operations, so only successes are compared. */
  #responses(name: string, before: ApiOperation, after: ApiOperation): void {
    for (const [status, response] of Object.entries(before.responses)) {
      if (!status.startsWith('2')) continue;
      const place = `${name}: response ${status}`;
      const current = after.responses[status];
      if (current === undefined) {
        this.#report(place, 'was removed');
        continue;
      }
      for (const header of Object.keys(response.headers ?? {})) {
        if (current.headers?.[header] === undefined) this.#report(`${place}: header ${header}`, 'was removed');
      }
      for (const [type, { schema }] of Object.entries(response.content ?? {})) {
        const content = current.content?.[type];
        if (content === undefined) this.#report(place, `no longer has a body of ${type}`);
        else this.#schemas(place, 'response', schema, content.schema);
      }
    }
  }

  #schemas(place: string, direction: Direction, beforeSchema: ApiSchema, afterSchema: ApiSchema): void {
    const before = resolve({ schema: beforeSchema, schemas: this.#before });
    const after = resolve({ schema: afterSchema, schemas: this.#after });
    if (before.name !== undefined && after.name !== undefined) {
      const pair = `${direction} ${before.name} ${after.name}`;
      if (this.#compared.has(pair)) return;
      this.#compared.add(pair);
    }
    const named = before.name ?? place;
    this.#types(named, direction, before.schema, after.schema);
    this.#values(named, direction, before.schema, after.schema);
    if (direction === 'request') this.#limits(named, before.schema, after.schema);
    this.#properties(named, direction, before.schema, after.schema);
    this.#nested(named, direction, before.schema, after.schema);
  }

  #types(place: string, direction: Direction, before: ApiSchema, after: ApiSchema): void {
    const [was, is] = [typesOf(before), typesOf(after)];
    const [wide, narrow] = direction === 'request' ? [is, was] : [was, is];
    if (wide.size > 0 && (narrow.size === 0 || [...narrow].some((type) => !accepts(wide, type)))) {
      this.#report(place, `had the type ${[...was].join(' or ') || 'any'}, now ${[...is].join(' or ') || 'any'}`);
    }
  }

  #values(place: string, direction: Direction, before: ApiSchema, after: ApiSchema): void {
    const [was, is] = [valuesOf(before), valuesOf(after)];
    if (direction === 'response' || is === undefined) return;
    const missing = was?.filter((value) => !is.some((other) => jsonEqual(value, other)));
    if (missing === undefined) this.#report(place, 'is now limited to certain values');
    else if (missing.length > 0) this.#report(place, `no longer accepts ${missing.map(String).join(', ')}`);
  }

  #limits(place: string, before: ApiSchema, after: ApiSchema): void {
    for (const limit of ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'] as const) {
      if ((after[limit] ?? Infinity) < (before[limit] ?? Infinity))
        this.#report(place, `${limit} is now ${after[limit]}`);
    }
    for (const limit of ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'] as const) {
      if ((after[limit] ?? -Infinity) > (before[limit] ?? -Infinity)) {
        this.#report(place, `${limit} is now ${after[limit]}`);
      }
    }
    for (const rule of ['pattern', 'format', 'uniqueItems'] as const) {
      if (after[rule] !== undefined && after[rule] !== before[rule]) {
        this.#report(place, `${rule} is now ${after[rule]}`);
      }
    }
  }

  #properties(place: string, direction: Direction, before: ApiSchema, after: ApiSchema): void {
    const current = after.properties ?? {};
    const [was, is] = [new Set(before.required), new Set(after.required)];
    for (const [name, schema] of Object.entries(before.properties ?? {})) {
      const property = current[name];
      if (property === undefined) this.#report(`${place}.${name}`, 'was removed');
      else this.#schemas(`${place}.${name}`, direction, schema, property);
      if (property !== undefined && direction === 'response' && was.has(name) && !is.has(name)) {
        this.#report(`${place}.${name}`, 'may now be absent');
      }
    }
    if (direction === 'response') return;
    for (const name of is) if (!was.has(name)) this.#report(`${place}.${name}`, 'is now required');
  }

  /** Items, members of maps, and alternatives in the same order. */
  #nested(place: string, direction: Direction, before: ApiSchema, after: ApiSchema): void {
    if (before.items !== undefined && after.items !== undefined) {
      this.#schemas(`${place}[]`, direction, before.items, after.items);
    }
    const [was, is] = [before.additionalProperties, after.additionalProperties];
    if (typeof was === 'object' && typeof is === 'object') this.#schemas(`${place}.*`, direction, was, is);
    for (const kind of ['anyOf', 'oneOf', 'allOf'] as const) {
      before[kind]?.forEach((schema, index) => {
        const alternative = after[kind]?.[index];
        if (alternative === undefined) this.#report(place, `has fewer alternatives in ${kind}`);
        else this.#schemas(`${place} (${kind} ${index})`, direction, schema, alternative);
      });
    }
  }

  #report(place: string, change: string): void {
    this.changes.push(`${place} ${change}`);
  }
}

function resolve({ schema, schemas }: Part): { schema: ApiSchema; name: string | undefined } {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  if (name === undefined) return { schema, name };
  const target = schemas[name];
  if (target === undefined) throw new Error(`there is no schema ${name}`);
  return { schema: target, name };
}

const typesOf = ({ type }: ApiSchema) => new Set(type === undefined ? [] : [type].flat());

const accepts = (types: ReadonlySet<string>, type: string) =>
  types.has(type) || (type === 'integer' && types.has('number'));

const valuesOf = (schema: ApiSchema): unknown[] | undefined => ('const' in schema ? [schema.const] : schema.enum);

const scopesOf = (operation: ApiOperation) => [operation['x-tocsin-scope']].flat();
