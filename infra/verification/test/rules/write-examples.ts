import type { Client } from '@tocsin/testing';
import { examplesOf } from '../../systems/examples.ts';
import { DESCRIPTION, homesOf, type Ids, requestOf, type RequestParts, send } from './operations.ts';
import { asValidation, type Validated } from './validated.ts';

/**
 * Writes the documented example of each operation that no write has used before: of the resources that earlier writes have
 * named, for the latest one that accepts it.
 * @throws if none does
 */
export async function writeExamples(client: Client, { write, accepted, named }: Validated): Promise<void> {
  for (const { id, method, template, path: documented, body: example } of examplesOf(DESCRIPTION)) {
    if (method === 'get' || accepted.has(id)) continue;
    const query = Object.fromEntries(new URL(documented, 'http://x').searchParams);
    const parts = { body: withNames(example, named), ...(Object.keys(query).length > 0 && { query }) };
    const accepting = await firstAccepting(client, { id, parts, all: idsOf(template, named) });
    if (accepting === undefined) throw new Error(`no resource accepts the example of ${id}: write it in workspace.ts`);
    await write(id, accepting, parts.body, parts.query);
  }
}

interface Attempts {
  id: string;
  parts: Pick<RequestParts, 'body' | 'query'>;
  all: Iterable<Ids>;
}

async function firstAccepting(client: Client, { id, parts, all }: Attempts): Promise<Ids | undefined> {
  for (const ids of all) {
    const { status } = await send(client, asValidation(await requestOf(client, id, { ...parts, ids })));
    if (status < 300) return ids;
  }
  return undefined;
}

/** What the IDs in a path may be. */
function* idsOf(template: string, named: Validated['named'], chosen: Ids = []): Generator<Ids> {
  const [, path = template, rest] = /^([^{]*)\{\w+\}(.*)$/.exec(template) ?? [];
  if (rest === undefined) return yield chosen;
  for (const id of [...(named.get(path) ?? [])].toReversed())
    yield* idsOf(`${path}${id}${rest}`, named, [...chosen, id]);
}

/** The kinds of what the properties of bodies name, by the end of their names. */
const NAMES = Object.entries({ user: 'User', team: 'Team', incident: 'Incident', field: 'CustomField' });

/** An example with the first resource of this workspace for each ID of one. */
function withNames(example: unknown, named: Validated['named']): object | undefined {
  if (example === undefined || example instanceof Uint8Array) return example;
  return JSON.parse(JSON.stringify(example), (name, value: unknown) => {
    const [, kind] = NAMES.find(([word]) => new RegExp(`(?:^|_)${word}_id$`).test(name)) ?? [];
    if (kind === undefined || typeof value !== 'number') return value;
    const [home = ''] = homesOf(`#/components/schemas/${kind}`);
    const [first = value] = named.get(home) ?? [];
    return first;
  }) as object;
}
