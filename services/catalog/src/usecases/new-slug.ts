import { invalid } from '@tocsin/http';
import type { Knex } from '@tocsin/runtime';
import { canonicalSlug, type SlugRule, slugOf } from '../domain/slug.ts';
import { freeSlug } from '../store/free-slug.ts';

/** Finds a new resource its slug, within the transaction that inserts it and after its version is had. */
export type SlugFinder = (
  trx: Knex.Transaction,
  place: { table: 'services' | 'teams'; workspaceId: number },
) => Promise<string>;

/**
 * The given slug, or one made from the name. Whether a given one is taken is for the insertion to find out.
 * @throws DomainError `invalid_request` naming `slug` when the name has no letter to make one of
 */
export function newSlug(wire: { name: string; slug?: string | undefined }, rule: SlugRule): SlugFinder {
  const { slug: given } = wire;
  if (given !== undefined) return async () => canonicalSlug(given);
  const slug = slugOf(wire.name, rule);
  if (slug === undefined) throw invalid('slug', 'No slug can be made from the name: give one');
  return async (trx, place) => freeSlug(trx, { ...place, slug });
}
