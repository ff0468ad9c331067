import { expect, test } from '@jest/globals';
import type { FeedEvent, Tocsin } from '@tocsin/sdk';
import { eventDescriber } from '../../src/notify/describe-event.ts';

const event = {
  id: '2c1e6a52-5f0e-4c66-9a3c-2f5d1c0f7a11',
  type: 'incident.created',
  occurred_at: '2026-11-20T09:30:00.000Z',
  workspace: { id: 1, slug: 'acme', is_demo: false },
  data: { incident: { id: 3, reference: 'INC-3', title: 'Leak', severity: 'sev1', status: 'open', service: '' } },
} as unknown as FeedEvent;

test.each([
  [false, [undefined, 'Leak']],
  [true, ['Leak', 'Leak']],
])('events of restricted incidents are left out unless they are wanted: %j', async (includesRestricted, titles) => {
  const filters = { severities: undefined, teams: undefined, includesRestricted };
  // Nothing that this event has is looked up.
  const describe = eventDescriber({} as Tocsin, filters, 'https://acme.example', new AbortController().signal);
  const described = [await describe({ ...event, restricted: true }), await describe(event)];
  expect(described.map((values) => values?.title)).toEqual(titles);
});
