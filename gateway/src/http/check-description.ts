import { setImmediate } from 'node:timers/promises';
import { entityTagOf, scanJson } from '@tocsin/http';
import { z } from 'zod';
import type { DescriptionVersion } from '../domain/description-versions.ts';
import { type Operation, routeTable } from '../domain/route-table.ts';
import { describedService, operationsOf, parseDescription } from './service-descriptions.ts';

/** A description that the gateway may use. */
export interface CheckedDescription extends DescriptionVersion {
  /** The entity tag of the bytes. */
  readonly id: string;
  readonly service: string;
  /** As the service sent them; parsed again for the public description, so that memory holds no second form. */
  readonly bytes: Buffer;
  readonly operations: readonly Operation[];
}

/** Five times the largest of today. */
export const MAX_DESCRIPTION_BYTES = 2_097_152;
/** Parsing a document of this weight takes about 30 ms; today the largest weighs a third of it. */
const MAX_WEIGHT = 300_000;
const MAX_DEPTH = 64;
/** Of one object. The schema reports each member that it does not expect, which takes much longer than parsing. */
const MAX_MEMBERS = 2_000;
const MAX_OPERATIONS = 256;

/** A description that must not be used. The message says what is wrong, without quoting more than a name of it. */
export class InvalidDescription extends Error {}

/**
 * Checks a description before use: whatever a service sends, the gateway stays as fast, and sends nobody's requests to
 * a service that they are not for. Requests are handled between its steps.
 * @throws InvalidDescription
 */
export async function checkDescription(service: string, bytes: Buffer): Promise<CheckedDescription> {
  const parsed = parse(bytes);
  await setImmediate();
  checkTree(parsed);
  await setImmediate();
  const { success, data, error } = describedService.safeParse(parsed);
  if (!success) throw new InvalidDescription(`it is not a description: ${firstIssue(error)}`);
  const operations = operationsOf(data);
  if (operations.length > MAX_OPERATIONS) {
    throw new InvalidDescription(`it has ${operations.length} operations; ${MAX_OPERATIONS} are allowed`);
  }
  for (const operation of operations) {
    if (operation.service !== service) {
      throw new InvalidDescription(`${operation.id} is an operation of the ${operation.service} service`);
    }
    const { parameters } = data.paths[operation.path]?.[operation.method.toLowerCase() as 'get'] ?? { parameters: [] };
    checkParameters(operation, parameters);
  }
  checkUnique(operations);
  return { id: entityTagOf(bytes), service, bytes, operations };
}

function parse(bytes: Buffer): unknown {
  if (bytes.length > MAX_DESCRIPTION_BYTES) {
    throw new InvalidDescription(`it has ${bytes.length} bytes; ${MAX_DESCRIPTION_BYTES} are allowed`);
  }
  try {
    scanJson(bytes, MAX_WEIGHT);
  } catch {
    throw new InvalidDescription('it has too many values');
  }
  try {
    return parseDescription(bytes);
  } catch {
    throw new InvalidDescription('it is not JSON');
  }
}

const REFERENCE = /^#\/components\/(schemas|responses|headers|examples)\/([\w.-]+)$/;

/** Checks the depth, which recursive functions depend on, the names, and that every reference has its target. */
function checkTree(root: unknown): void {
  const references = new Set<string>();
  const waiting: { value: object; depth: number }[] = isObject(root) ? [{ value: root, depth: 1 }] : [];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth } = next;
    if (depth > MAX_DEPTH) throw new InvalidDescription(`it is nested deeper than ${MAX_DEPTH} levels`);
    const members = Object.entries(value);
    if (!Array.isArray(value) && members.length > MAX_MEMBERS) {
      throw new InvalidDescription(`an object has ${members.length} members; ${MAX_MEMBERS} are allowed`);
    }
    for (const [name, member] of members as [string, unknown][]) {
      // Assigning a property of this name to another object would replace its prototype.
      if (name === '__proto__') throw new InvalidDescription('it has a property __proto__');
      if (name === '$ref' && typeof member === 'string') references.add(member);
      else if (isObject(member)) waiting.push({ value: member, depth: depth + 1 });
    }
  }
  const { components, paths } = (root ?? {}) as {
    components?: Record<string, Record<string, unknown> | undefined>;
    paths?: object;
  };
  const count = Object.keys(paths ?? {}).length;
  if (count > MAX_OPERATIONS) throw new InvalidDescription(`it has ${count} paths; ${MAX_OPERATIONS} are allowed`);
  for (const reference of references) {
    const [, kind = '', name = ''] = REFERENCE.exec(reference) ?? [];
    if (!Object.hasOwn(components?.[kind] ?? {}, name)) {
      throw new InvalidDescription(`it has a reference without a target in it: ${reference.slice(0, 100)}`);
    }
  }
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** Every parameter of the path has to be declared, and no other. */
function checkParameters(
  { id, path }: Operation,
  declared: readonly { name: string; in: string; required?: boolean | undefined }[],
): void {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort();
  const names = declared.flatMap((parameter) => (parameter.in === 'path' ? [parameter] : []));
  const isComplete = names.every(({ required }) => required === true);
  if (
    isComplete &&
    names
      .map(({ name }) => name)
      .sort()
      .join() === [...new Set(inPath)].join() &&
    !hasTwice(inPath)
  )
    return;
  throw new InvalidDescription(`${id} does not declare each parameter of its path once, as required`);
}

const hasTwice = (values: readonly unknown[]) => new Set(values).size < values.length;

/** Checks that IDs, methods with paths, and their combination are unique. */
function checkUnique(operations: readonly Operation[]): void {
  if (hasTwice(operations.map(({ id }) => id))) throw new InvalidDescription('two of its operations have the same ID');
  try {
    routeTable(operations);
  } catch (error) {
    throw new InvalidDescription((error as Error).message);
  }
}

/** The place and the message of the first issue, without the value. */
function firstIssue(error: z.ZodError): string {
  const [issue] = error.issues;
  const place = issue?.path.map((part) => JSON.stringify(part).slice(0, 100)).join(' ') ?? '';
  const message = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  return `${place}: ${message ?? ''}`.slice(0, 400);
}
