import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { planConfiguration } from '../src/administration.ts';
import { expected } from './list/model.ts';
import { furnish, handOver, type Listed, populate, setClock } from './list/population.ts';
import { type Question, question, searchOf } from './list/questions.ts';
import { CONFIGURATION, NOW } from './list/world.ts';
import { openOwnDatabase, startService, type TestService } from './service.ts';

/**
 * Lists against a model: an array, filtered and sorted by the words of the contract. Few distinct values, so that keys
 * are often equal; and missing ones, texts beyond ASCII, archived incidents, and those past a history limit.
 */
const clock = setClock(NOW);
let service: TestService;
let population: Listed[];

beforeAll(async () => {
  service = await startService({ clock });
  const database = openOwnDatabase(service);
  const plan = await planConfiguration(database, 1, CONFIGURATION);
  await database.transaction(async (trx) => plan.apply(trx));
  await database.destroy();
  await furnish(service);
  population = await populate(service, clock, 200);
  await service.as({ workspace: { id: 2 } }).post('/api/v1/incidents', { title: 'of another workspace' });
  clock.set(NOW);
  await handOver(service);
}, 60_000);
afterAll(async () => service.stop());

/** Reads a list from its first page to its last, and checks on every page what does not depend on the page. */
async function traverse({ asked, archived, historyDays, limit }: Question) {
  const client = service.as({ workspace: { history_days: historyDays } });
  const search = searchOf(asked);
  search.set('limit', String(limit));
  search.set('include_counts', 'true');
  const ids: number[] = [];
  let figures: unknown;
  for (;;) {
    const { status, body } = await client.get(`/api/v1/incidents${archived ? '/archived' : ''}?${search.toString()}`);
    expect({ status, field: body.field }).toEqual({ status: 200, field: undefined });
    ids.push(...body.incidents.map(({ id }: { id: number }) => id));
    const page = { restricted: body.restricted_count, counts: body.collection_counts, limited: body.history_limited };
    if (figures !== undefined) expect(page).toEqual(figures);
    figures = page;
    expect(body.has_more).toBe(body.next_cursor !== undefined);
    expect(body.pagination).toEqual({
      limit,
      has_more: body.has_more,
      ...(body.has_more && { next_cursor: body.next_cursor }),
    });
    if (body.next_cursor === undefined) return { ids, figures };
    expect(body.incidents).toHaveLength(limit);
    search.set('cursor', body.next_cursor);
  }
}

test('six hundred questions, each asked to the end, are answered as the model answers them', async () => {
  const sizes: number[] = [];
  await fc.assert(
    fc.asyncProperty(question, async (one) => {
      const { ids, restricted, counts } = expected(population, one.asked, one);
      sizes.push(ids.length);
      const answered = await traverse(one);
      expect(answered.figures).toEqual({ restricted, counts, limited: one.historyDays !== null });
      expect(answered.ids).toEqual(ids);
    }),
    { numRuns: 600 },
  );
  // Questions that nothing answers would prove little.
  expect(sizes.filter((size) => size > 3).length).toBeGreaterThan(120);
}, 120_000);

test('the incidents are shown as reading them one by one shows them', async () => {
  const { body } = await service.as().get('/api/v1/incidents?limit=100');
  const [first] = body.incidents;
  const one = await service.as().get(`/api/v1/incidents/${first.id}`);
  expect(first).toEqual(one.body.incident);
});
