import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { configure } from '../configure.ts';
import { expected } from './model.ts';
import { addReferenceData, assignOwners, populate, setClock } from './population.ts';
import { type ListRequest, listRequest, searchOf } from './requests.ts';
import { CONFIGURATION, NOW } from './world.ts';
import { serviceForFile } from '../service.ts';

/**
 * Compares lists with a model: an array that is filtered and sorted as the contract says. The data has few distinct
 * values, so that sort keys are often equal, and also missing values, texts beyond ASCII, archived incidents, and
 * incidents older than a history limit.
 */
const clock = setClock(NOW);

const service = await serviceForFile({ clock });
const { knex: database } = service;
await configure(database, 1, CONFIGURATION);
await database.destroy();
await addReferenceData(service);
const population = await populate(service, clock, 200);
await service.as({ workspace: { id: 2 } }).post('/api/v1/incidents', { title: 'of another workspace' });
clock.set(NOW);
await assignOwners(service);

/** Reads a list from its first page to its last. Checks that the counts are the same on every page. */
async function traverse({ parameters, archived, historyDays, limit }: ListRequest) {
  const client = service.as({ workspace: { history_days: historyDays } });
  const search = searchOf(parameters);
  search.set('limit', String(limit));
  search.set('include_counts', 'true');
  const ids: number[] = [];
  let counts: unknown;
  for (;;) {
    const { status, body } = await client.get(`/api/v1/incidents${archived ? '/archived' : ''}?${search.toString()}`);
    expect({ status, field: body.field }).toEqual({ status: 200, field: undefined });
    ids.push(...body.incidents.map(({ id }: { id: number }) => id));
    const page = { restricted: body.restricted_count, counts: body.collection_counts, limited: body.history_limited };
    if (counts !== undefined) expect(page).toEqual(counts);
    counts = page;
    expect(body.has_more).toBe(body.next_cursor !== undefined);
    expect(body.pagination).toEqual({
      limit,
      has_more: body.has_more,
      ...(body.has_more && { next_cursor: body.next_cursor }),
    });
    if (body.next_cursor === undefined) return { ids, counts };
    expect(body.incidents).toHaveLength(limit);
    search.set('cursor', body.next_cursor);
  }
}

test('six hundred random lists, each read to its end, equal those of the model', async () => {
  const sizes: number[] = [];
  await fc.assert(
    fc.asyncProperty(listRequest, async (one) => {
      const { ids, restricted, counts } = expected(population, one.parameters, one);
      sizes.push(ids.length);
      const actual = await traverse(one);
      expect(actual.counts).toEqual({ restricted, counts, limited: one.historyDays !== null });
      expect(actual.ids).toEqual(ids);
    }),
    { numRuns: 600 },
  );
  // Empty lists would prove little.
  expect(sizes.filter((size) => size > 3).length).toBeGreaterThan(120);
});
