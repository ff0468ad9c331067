import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Prerequisite } from '@tocsin/schemas';
import { type Cost, type Deprecation, EXTENSIONS } from '@tocsin/http';
import { ownProperty } from '@tocsin/runtime';
import { type Operation, OWN_SERVICE } from '../domain/route-table.ts';
import type { ApiDescription } from './api-description.ts';
import { type Guides, readGuides } from './guides.ts';

/** What the gateway's own files say about the API: the generated descriptions of the services, and the guides. */
export interface BundledApi {
  descriptions: readonly ApiDescription[];
  operations: readonly Operation[];
  guides: Guides;
}

const ROOT = path.join(import.meta.dirname, '../../../..');

/**
 * Reads the files that the gateway was released with.
 * @param services the names of the services, in the order of the public description
 * @param replaced descriptions instead of the files of the services; those that it lacks describe nothing
 * @throws Error naming the file that cannot be read
 */
export async function readBundledApi(
  services: readonly string[],
  replaced?: Readonly<Record<string, ApiDescription>>,
): Promise<BundledApi> {
  const isFile = (service: string) => replaced === undefined || service === OWN_SERVICE;
  const descriptions = await Promise.all(
    services.map(async (service) =>
      isFile(service) ? readDescription(service) : (ownProperty(replaced ?? {}, service) ?? NOTHING),
    ),
  );
  return { descriptions, operations: descriptions.flatMap(operationsOf), guides: await readGuides() };
}

const NOTHING = { openapi: '3.1.0', paths: {} } as ApiDescription;

async function readDescription(service: string): Promise<ApiDescription> {
  const file = `${service === OWN_SERVICE ? service : `services/${service}`}/openapi.json`;
  try {
    return JSON.parse(await readFile(path.join(ROOT, file), 'utf8')) as ApiDescription;
  } catch (error) {
    throw new Error(`${file} cannot be read: run npm run generate`, { cause: error });
  }
}

const operationsOf = ({ paths }: ApiDescription): Operation[] =>
  Object.entries(paths).flatMap(([pathname, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path: pathname,
      service: described[EXTENSIONS.service] as string,
      scope: described[EXTENSIONS.scope] as Operation['scope'],
      needs: described[EXTENSIONS.needs] as Prerequisite[],
      basic: described.security?.some((scheme) => 'basic' in scheme),
      tokenProperty: described[EXTENSIONS.tokenProperty] as string | undefined,
      bodyBytes: described[EXTENSIONS.bodyBytes] as number | undefined,
      deadline: 1_000 * (described[EXTENSIONS.deadline] as number),
      wait: described[EXTENSIONS.wait] as number | undefined,
      cost: described[EXTENSIONS.cost] as Cost | undefined,
      deprecation: described[EXTENSIONS.deprecation] as Deprecation | undefined,
    })),
  );
