import { resolveConflicts } from '../domain/conflicts.ts';
import { type Operation, OWN_SERVICE } from '../domain/route-table.ts';
import type { ApiDescription } from './api-description.ts';
import { checkDescription, type CheckedDescription } from './check-description.ts';
import { type Guides, readGuides } from './guides.ts';
import { readDescriptions } from './service-descriptions.ts';

/** What the gateway's own files say about the API: the generated descriptions of the services, and the guides. */
export interface BakedApi {
  descriptions: readonly CheckedDescription[];
  operations: readonly Operation[];
  guides: Guides;
}

/**
 * Reads the files that the gateway was released with.
 * @param services the gateway first, as it keeps its paths, and then the names of the services
 * @param replaced descriptions instead of the files of the services; those that it lacks describe nothing
 * @throws Error naming the file that cannot be read, what is wrong with a description, or the path that two services describe
 */
export async function readBakedApi(
  services: readonly string[],
  replaced?: Readonly<Record<string, ApiDescription>>,
): Promise<BakedApi> {
  const files =
    replaced === undefined
      ? await readDescriptions(services)
      : {
          ...bytesOf(services, replaced),
          ...(await readDescriptions(services.filter((name) => name === OWN_SERVICE))),
        };
  const descriptions = await Promise.all(
    Object.entries(files).map(async ([service, bytes]) =>
      checkDescription(service, bytes).catch((error: unknown) => {
        throw new Error(`the description of the ${service} service: ${(error as Error).message}`, { cause: error });
      }),
    ),
  );
  const { operations, conflicts } = resolveConflicts(descriptions.flatMap((description) => description.operations));
  const [first] = conflicts;
  if (first !== undefined) {
    const { id, method, path, service } = first.operation;
    throw new Error(
      `the ${service} service describes ${method} ${path} (${id}), but the ${first.owner} service owns it`,
    );
  }
  return { descriptions, operations, guides: await readGuides() };
}

const bytesOf = (services: readonly string[], replaced: Readonly<Record<string, ApiDescription>>) =>
  Object.fromEntries(
    services.map((service) => [
      service,
      Buffer.from(JSON.stringify(replaced[service] ?? { openapi: '3.1.0', paths: {} })),
    ]),
  );
