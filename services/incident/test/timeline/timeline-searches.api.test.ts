import { beforeAll, describe, expect, test } from '@jest/globals';
import { refusal } from '@tocsin/testing';
import { newTimelineEvent, type TimelineEventProperties } from '../../src/timeline/domain/timeline-event.ts';
import { timelineStore } from '../../src/timeline/store/timeline-store.ts';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
const client = service.as();
const { knex: database } = service;

async function declare() {
  const { body } = await client.post('/api/v1/incidents', { title: 'Checkout is down' });
  const id: number = body.incident.id;
  return { id, list: async (query: string) => client.get(`/api/v1/incidents/${id}/timeline?${query}`) };
}

/** Adds events, a minute apart from midnight. */
async function addEvents(
  incidentId: number,
  count: number,
  propertiesOf: (index: number) => Partial<TimelineEventProperties> & { body: string },
): Promise<void> {
  const events = Array.from({ length: count }, (_, index) => {
    const startedAt = new Date(Date.UTC(2026, 10, 20, 0, index)).toISOString();
    const properties = { startedAt, ...propertiesOf(index) };
    return newTimelineEvent({ incidentId, source: 'api', createdBy: '42', createdByKey: null, properties });
  });
  for (let start = 0; start < count; start += 50) {
    await timelineStore(database, 1).insertAll(events.slice(start, start + 50));
  }
}

describe('a timeline with more text than a search may compare', () => {
  let timeline: Awaited<ReturnType<typeof declare>>;
  beforeAll(async () => {
    timeline = await declare();
    await addEvents(timeline.id, 601, () => ({ body: 'a'.repeat(65_536), type: 'deploy' }));
  });

  test('can be read, but not searched as a whole', async () => {
    expect((await timeline.list('limit=1')).body).toMatchObject({ matched_count: 601, has_more: true });
    expect(await timeline.list('q=b')).toMatchObject(refusal(400, 'invalid_request', { field: 'q' }));
    expect((await timeline.list('q=b&type_or_source=deploy')).status).toBe(400);
  });

  test('can be searched in part', async () => {
    const within = 'started_from=2026-11-20T00:00:00Z&started_to=2026-11-20T08:00:00Z';
    const searched = await timeline.list(`${within}&limit=1&q=${'A'.repeat(200)}`);
    expect(searched).toMatchObject({ status: 200, body: { matched_count: 480, has_more: true } });
    const missing = await timeline.list(`${within}&q=${'A'.repeat(100)}b${'a'.repeat(99)}`);
    expect(missing).toMatchObject({ status: 200, body: { matched_count: 0, events: [], has_more: false } });
    expect((await timeline.list('q=b&type_or_source=note')).body).toMatchObject({ matched_count: 0 });
  });
});

test('of more than 1,000 types and tags, the most frequent are counted', async () => {
  const { id, list } = await declare();
  await addEvents(id, 1_101, (index) => ({ body: 'x', type: `type ${index}`, tags: ['every', `tag ${index}`] }));
  const { filter_counts, matched_count } = (await list('limit=1')).body;
  expect(matched_count).toBe(1_101);
  expect(filter_counts.all_events).toBe(1_101);
  expect(Object.keys(filter_counts.type_counts)).toHaveLength(1_000);
  expect(Object.keys(filter_counts.tag_counts)).toHaveLength(1_000);
  expect(filter_counts.tag_counts.every).toBe(1_101);
});
