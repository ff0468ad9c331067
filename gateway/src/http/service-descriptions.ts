import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Prerequisite } from '@tocsin/contracts';
import { EXTENSIONS } from '@tocsin/http';
import { z } from 'zod';
import { API_ROOT, type Operation, OWN_SERVICE } from '../domain/route-table.ts';
import type { ApiDescription } from './api-description.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
const fileOf = (service: string) => `${service === OWN_SERVICE ? service : `services/${service}`}/openapi.json`;

/**
 * Reads the API descriptions that are generated from the contracts of the gateway and the services.
 * @throws Error naming the file that cannot be read
 */
export async function readDescriptions(services: readonly string[]): Promise<Record<string, Buffer>> {
  const read = services.map(async (service): Promise<[string, Buffer]> => {
    try {
      return [service, await readFile(path.join(ROOT, fileOf(service)))];
    } catch (error) {
      throw new Error(`${fileOf(service)} cannot be read: run npm run generate`, { cause: error });
    }
  });
  return Object.fromEntries(await Promise.all(read));
}

/** Seconds; a response may take as long in all. */
const MAX_DEADLINE = 120;
/** Seconds. */
const MAX_WAIT = 60;
const MAX_COST = 1_000;
const MAX_COST_PARAMETERS = 64;
const MAX_PATH_LENGTH = 256;

/** Literals are what the route table compares unchanged; a parameter is a whole segment. */
const SEGMENT = String.raw`(?:[a-z0-9][\w.~-]*|\{[A-Za-z]\w*\})`;
const PATH = new RegExp(`^${API_ROOT}${SEGMENT}(?:/${SEGMENT})*$`);
const apiPath = z
  .string()
  .max(MAX_PATH_LENGTH)
  .regex(PATH, `must begin with ${API_ROOT} and consist of plain segments and {parameters}`);

const cost = z.int().min(0).max(MAX_COST);
/** A newer service may have scopes and prerequisites that this gateway does not know; see `operationsOf`. */
const name = z
  .string()
  .max(64)
  .regex(/^[a-z][a-z_]*(?::[a-z_]+)?$/);

const response = z.object({ description: z.string() });
const responseReference = z.object({ $ref: z.string().startsWith('#/components/responses/') });

/** What the gateway reads of an operation. Other members are for people and clients. */
const operation = z.object({
  operationId: z.string().regex(/^[A-Za-z]\w{0,63}$/),
  parameters: z
    .array(z.object({ name: z.string(), in: z.enum(['path', 'query', 'header']), required: z.boolean().optional() }))
    .max(256)
    .default([]),
  responses: z
    .record(z.string().regex(/^[1-5](?:\d\d|XX)$/), z.union([responseReference, response]))
    .refine((responses) => Object.keys(responses).length > 0),
  tags: z.array(z.string().max(64)).max(8).optional(),
  [EXTENSIONS.service]: z.string(),
  [EXTENSIONS.scope]: z.union([name, z.array(name).min(1).max(16)]),
  [EXTENSIONS.needs]: z.array(name).max(16),
  [EXTENSIONS.deadline]: z.number().positive().max(MAX_DEADLINE),
  [EXTENSIONS.wait]: z.number().positive().max(MAX_WAIT).optional(),
  [EXTENSIONS.cost]: z
    .object({
      base: cost.min(1),
      parameters: z
        .record(z.string(), cost)
        .refine((parameters) => Object.keys(parameters).length <= MAX_COST_PARAMETERS)
        .default({}),
    })
    .optional(),
  [EXTENSIONS.deprecation]: z
    .object({ since: z.iso.datetime(), sunset: z.iso.datetime(), successor: apiPath })
    .optional(),
});

const componentName = z.string().regex(/^[A-Za-z][\w.-]{0,127}$/);
const components = z.record(componentName, z.looseObject({})).optional();

/** The structure of a service's description. */
export const describedService = z.object({
  openapi: z.string().startsWith('3.1.'),
  paths: z.record(apiPath, z.partialRecord(z.enum(['get', 'post', 'put', 'patch', 'delete']), operation)),
  // The names become those of the public description. None is that of a property that every object has.
  webhooks: z
    .record(z.string().regex(/^[a-z][\w.-]{0,127}$/), z.record(z.literal('post'), operation.pick({ responses: true })))
    .optional(),
  components: z
    .object({
      schemas: components,
      responses: z.record(componentName, response).optional(),
      headers: components,
      examples: components,
    })
    .optional(),
});

type DescribedService = z.infer<typeof describedService>;

/**
 * Returns the operations of a description. Scopes and prerequisites that this gateway does not know are kept: no key has
 * such a scope unless a newer release gave it one, and the service checks both again.
 */
export function operationsOf({ paths }: DescribedService): Operation[] {
  return Object.entries(paths).flatMap(([pathname, methods]) =>
    Object.entries(methods).map(([method, read]) => ({
      id: read.operationId,
      method: method.toUpperCase(),
      path: pathname,
      service: read[EXTENSIONS.service],
      scope: read[EXTENSIONS.scope] as Operation['scope'],
      needs: read[EXTENSIONS.needs] as Prerequisite[],
      deadline: 1_000 * read[EXTENSIONS.deadline],
      wait: read[EXTENSIONS.wait],
      cost: read[EXTENSIONS.cost],
      deprecation: read[EXTENSIONS.deprecation],
    })),
  );
}

/** @throws SyntaxError */
export const parseDescription = (bytes: Buffer): ApiDescription => JSON.parse(bytes.toString('utf8')) as ApiDescription;
