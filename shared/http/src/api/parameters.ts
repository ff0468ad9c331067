import { z } from 'zod';
import { ownProperty } from '@tocsin/runtime';
import { invalidRequest } from '../errors/errors.ts';
import { checkText } from '../json/json.ts';
import { nearName } from '../errors/near-name.ts';

/** The type that a parameter's text is converted to, derived from its schema. */
type Kind = 'string' | 'integer' | 'boolean';

interface Parameter {
  kind: Kind;
  repeatable: boolean;
  /** The most values that a repeatable one may have. */
  maximum: number;
}

/** A path ID: an integer of at least 1. One that is larger than any row's is valid and not found. */
export const pathId = z
  .int()
  .min(1)
  .meta({ description: 'A numeric ID; one that does not exist in the workspace is 404' });

/**
 * Reads a query string by its schema. Rejects unknown parameters, and repeated ones that are not arrays.
 * @throws DomainError `invalid_request` naming the parameter
 */
export function readQuery(search: string, schema: z.ZodObject): Record<string, unknown> {
  const shape = schema.shape as Record<string, z.ZodType>;
  const raw = new Map<string, unknown>();
  for (const pair of search.split('&')) {
    if (pair === '') continue;
    const cut = pair.indexOf('=');
    const name = decode(cut === -1 ? pair : pair.slice(0, cut), 'query');
    const declared = ownProperty(shape, name);
    if (declared === undefined) {
      const meant = nearName(name, Object.keys(shape));
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`;
      throw invalidRequest(name.replaceAll('\0', '\uFFFD'), `Is not a known parameter${hint}`);
    }
    const { kind, repeatable, maximum } = describeParameter(declared);
    const value = convert(decode(cut === -1 ? '' : pair.slice(cut + 1), name), kind, name);
    if (repeatable) {
      const values = (raw.get(name) ?? []) as unknown[];
      // Here too, so that no further values are read.
      if (values.push(value) > maximum) throw invalidRequest(name, `Must have at most ${maximum} items`);
      raw.set(name, values);
    } else if (raw.has(name)) throw invalidRequest(name, 'Must not be given more than once');
    else raw.set(name, value);
  }
  return Object.fromEntries(raw);
}

/** Converts decoded path parameters to the types of their schema. */
export function readPath(params: Record<string, string>, schema: z.ZodObject): Record<string, unknown> {
  const shape = schema.shape as Record<string, z.ZodType>;
  return Object.fromEntries(
    Object.entries(shape).map(([name, declared]): [string, unknown] => {
      const text = ownProperty(params, name) ?? '';
      if (describeParameter(declared).kind !== 'integer') {
        checkText(text, name);
        return [name, text];
      }
      if (!/^[1-9]\d*$/.test(text)) throw invalidRequest(name, `Must be an integer of at least 1${hintFor(text)}`);
      // Larger than any existing ID: valid, but not found.
      return [name, Math.min(Number(text), Number.MAX_SAFE_INTEGER)];
    }),
  );
}

/** Where the ID is that a reference stands for; whether there is one, the message does not say. */
const hintFor = (text: string) =>
  /^[A-Za-z]{1,10}-\d{1,16}$/.test(text)
    ? `; GET /api/v1/incident-references/${text} returns the incident with its ID`
    : '';

const described = new WeakMap<z.ZodType, Parameter>();

/** Looks through optional and nullable schemas, and into the items of an array. */
function describeParameter(schema: z.ZodType): Parameter {
  const cached = described.get(schema);
  if (cached !== undefined) return cached;
  const parameter = newDescription(schema);
  described.set(schema, parameter);
  return parameter;
}

function newDescription(schema: z.ZodType): Parameter {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return describeParameter(schema.unwrap() as z.ZodType);
  }
  if (schema instanceof z.ZodArray) {
    const { kind } = describeParameter(schema.element as z.ZodType);
    return { kind, repeatable: true, maximum: maxItemsOf(schema) };
  }
  const kind = schema instanceof z.ZodNumber ? 'integer' : schema instanceof z.ZodBoolean ? 'boolean' : 'string';
  return { kind, repeatable: false, maximum: 1 };
}

function maxItemsOf({ def: { checks = [] } }: z.ZodArray): number {
  return Math.min(...checks.map(({ _zod: { def } }) => ('maximum' in def ? Number(def.maximum) : Infinity)));
}

function decode(text: string, field: string): string {
  let decoded: string;
  try {
    decoded = decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw invalidRequest(field, 'Must be percent-encoded UTF-8');
  }
  if (field !== 'query') checkText(decoded, field);
  return decoded;
}

function convert(text: string, kind: Kind, field: string): unknown {
  if (kind === 'string') return text;
  if (kind === 'boolean') {
    if (text === 'true' || text === 'false') return text === 'true';
    throw invalidRequest(field, 'Must be true or false');
  }
  const number = Number(text);
  if (!/^-?\d+$/.test(text) || !Number.isSafeInteger(number))
    throw invalidRequest(field, `Must be an integer${hintFor(text)}`);
  return number;
}
