import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { type JsonSchema, mapInner, mapValues } from './tolerant-schema.ts';

/** Keywords that describe and check nothing. */
const ANNOTATIONS = new Set(['description', 'examples', 'format']);

/**
 * Compiles schemas to the source of an ES module without imports, which exports one validator for each name.
 * @throws Error if the validators need code of Ajv at run time
 */
export function compileValidators(schemas: Record<string, JsonSchema>): string {
  const compact = shareRepeated(mapValues(schemas, withoutAnnotations));
  const ajv = new Ajv({
    schemas: compact,
    // `type` may be a list of types.
    strictTypes: false,
    inlineRefs: false,
    // Messages of errors; paths and keywords are enough.
    messages: false,
    code: { source: true, esm: true, lines: true },
  });
  const names = Object.fromEntries(Object.keys(schemas).map((name) => [name, name]));
  const code = (standalone as unknown as { default: (ajv: Ajv, names: object) => string }).default(ajv, names);
  if (/\brequire\(|^import /m.test(code)) throw new Error('the validators need code of Ajv at run time');
  return code.replace(/^"use strict";/, '').trim();
}

function withoutAnnotations(schema: JsonSchema): JsonSchema {
  const kept = Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword));
  return mapInner(Object.fromEntries(kept), withoutAnnotations);
}

/** Replaces objects that appear more than once by references to one schema: the code is a third as long. */
function shareRepeated(schemas: Record<string, JsonSchema>): Record<string, JsonSchema> {
  const counts = new Map<string, number>();
  const count = (schema: JsonSchema): JsonSchema => {
    const text = JSON.stringify(schema);
    if (schema.type === 'object') counts.set(text, (counts.get(text) ?? 0) + 1);
    return mapInner(schema, count);
  };
  mapValues(schemas, (schema) => mapInner(schema, count));
  const shared: Record<string, JsonSchema> = {};
  const names = new Map<string, string>();
  const share = (schema: JsonSchema): JsonSchema => {
    const text = JSON.stringify(schema);
    if ((counts.get(text) ?? 0) < 2) return mapInner(schema, share);
    const name = names.get(text) ?? `shared${names.size}`;
    if (!names.has(text)) {
      names.set(text, name);
      shared[name] = mapInner(schema, share);
    }
    return { $ref: name };
  };
  return { ...mapValues(schemas, (schema) => mapInner(schema, share)), ...shared };
}
