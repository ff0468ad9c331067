import { jsonEqual } from '@tocsin/http';
import type { Client } from './client.ts';

/** What is used of the zod schema of a property. */
interface PropertySchema {
  safeParse(value: unknown): { success: boolean };
}

/** A resource as its API shows it. */
type Resource = Record<string, unknown> & { revision: number };

export interface PatchedProperty {
  name: string;
  /** What was sent. */
  value: unknown;
  path: string;
  before: Resource;
  /** The resource in the response. */
  after: Resource;
}

/** In the form in which they are stored; nearly every property accepts one of them, or one of its options. */
const VALUES = [true, false, 'https://other.example/', 'other', '2026-11-20T09:30:00.000Z', ['other'], 1, 2];

/**
 * Changes each property that a PATCH accepts by a PATCH of its own, each of a new resource.
 * @param options.schema of the body
 * @param options.create creates a resource for the change of a property, and returns its path
 * @param options.values what some properties refer to: keys and IDs that exist
 * @throws Error naming a property for which there is no value that is accepted and differs from the present one
 */
export async function patchEachProperty({
  client,
  schema,
  create,
  values = [],
}: {
  client: Client;
  schema: { shape: Readonly<Record<string, PropertySchema>> };
  create: (property: string) => Promise<string>;
  values?: readonly unknown[];
}): Promise<PatchedProperty[]> {
  const patched: PatchedProperty[] = [];
  for (const [name, property] of Object.entries(schema.shape)) {
    const path = await create(name);
    const before = resourceIn((await client.get(path)).body);
    const candidates = [...values, ...optionsOf(property), ...VALUES].filter(
      (value) => property.safeParse(value).success && !jsonEqual(value, before[name]),
    );
    for (const value of candidates) {
      const headers = { 'If-Service-Resource-Version': String(before.revision) };
      const { status, body, text } = await client.patch(path, { [name]: value }, headers);
      if (status === 200) {
        patched.push({ name, value, path, before, after: resourceIn(body) });
        break;
      }
      if (status !== 400) throw new Error(`${name}: ${status} ${text}`);
    }
    if (patched.at(-1)?.name !== name) throw new Error(`no value of ${name} was accepted`);
  }
  return patched;
}

/** The only property of a reply. */
const resourceIn = (body: Record<string, Resource>): Resource => Object.values(body)[0] as Resource;

/** The options of an enum, which may be optional. */
function optionsOf(schema: PropertySchema): readonly unknown[] {
  const { options, unwrap } = schema as { options?: readonly unknown[]; unwrap?: () => PropertySchema };
  return options ?? (unwrap === undefined ? [] : optionsOf(unwrap.call(schema)));
}
