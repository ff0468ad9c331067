import { z } from 'zod';
import type { Contract, Reply } from './contract.ts';
import { schemaReference } from './schema-reference.ts';

/** On a response that would be the one of a request, had it been more than validated. */
export const VALIDATED_HEADER = 'Validated-Only';

/** On a command to another service that is a part of a dry run, so that it has no effect there either. */
export const DRY_RUN_HEADER = 'x-tocsin-dry-run';

const PARAMETER = {
  validate_only: z.boolean().optional().meta({
    description: 'Whether to check the request without carrying it out; default: false',
    default: false,
  }),
};

/** The query of an operation: that of its contract, and of every write `validate_only` (contract: Validating a write). */
export function queryOf({ method, query }: Pick<Contract, 'method' | 'query'>): z.ZodObject | undefined {
  if (method === 'get') return query;
  return query === undefined ? z.strictObject(PARAMETER) : query.extend(PARAMETER);
}

/** The response to a write that was only validated: what only the write itself assigns is null. */
export function validatedReply({ reply: { assigned = [] } }: Pick<Contract, 'reply'>, reply: Reply): Reply {
  const headers = { ...reply.headers, [VALIDATED_HEADER]: 'true' };
  if (reply.text === undefined && reply.body === undefined) return { ...reply, headers };
  const { text, ...rest } = reply;
  const body: unknown = JSON.parse(text ?? JSON.stringify(reply.body));
  for (const path of assigned) setNull(body, path.split('.'));
  return { ...rest, body, headers };
}

/** A list in a path, and the property that its items of concern have: `results[outcome=created]`. */
const LIST = /^(\w+)\[(\w+)=(\w+)\]$/;

/** Sets a property to null if there is one at the path. */
function setNull(value: unknown, [name = '', ...rest]: readonly string[]): void {
  const [, list, property = '', expected] = LIST.exec(name) ?? [];
  if (list !== undefined) {
    const items = (value as Record<string, readonly Record<string, unknown>[]>)[list] ?? [];
    for (const item of items) if (item[property] === expected) setNull(item, rest);
    return;
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return;
  const object = value as Record<string, unknown>;
  if (rest.length === 0) object[name] = null;
  else setNull(object[name], rest);
}

const DESCRIPTION = { description: 'Null: only the real request assigns it' };
/** A schema with an ID is described once, for all operations that return it. */
const validated = new WeakMap<z.ZodType, z.ZodType>();

/** Whether the schema of `validatedReply` is another one: items of lists may have null anyway. */
export const changesSchema = (assigned: readonly string[] = []) => assigned.some((path) => !path.includes('['));

/** The schema of `validatedReply`. @throws Error for a path without a property */
export function validatedSchema(schema: z.ZodType, assigned: readonly string[]): z.ZodType {
  if (schema instanceof z.ZodOptional) return validatedSchema(schema.unwrap() as z.ZodType, assigned).optional();
  if (schema instanceof z.ZodLazy) {
    const target = schema.def.getter() as z.ZodType;
    return schemaReference(validatedSchema(target, assigned), schema.meta()?.description ?? '');
  }
  if (!(schema instanceof z.ZodObject)) throw new Error(`there is no property ${assigned.join(', ')}`);
  const known = validated.get(schema);
  if (known !== undefined) return known;
  const shape = { ...(schema.shape as Record<string, z.ZodType>) };
  const paths = assigned.map((path) => path.split('.'));
  for (const [name, group] of Object.entries(Object.groupBy(paths, ([first = '']) => first))) {
    const property = shape[name];
    if (property === undefined) throw new Error(`there is no property ${name}`);
    const within = (group ?? []).map((path) => path.slice(1).join('.')).filter((path) => path !== '');
    if (within.length > 0) shape[name] = validatedSchema(property, within);
    else
      shape[name] =
        property instanceof z.ZodOptional ? z.null().optional().meta(DESCRIPTION) : z.null().meta(DESCRIPTION);
  }
  const id = schema.meta()?.id;
  if (id === undefined) return z.strictObject(shape);
  const copy = z.strictObject(shape).meta({ ...schema.meta(), id: `Validated${id}` });
  validated.set(schema, copy);
  return copy;
}
