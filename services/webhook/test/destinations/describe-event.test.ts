import { expect, test } from '@jest/globals';
import { describeEvent } from '../../src/destinations/domain/describe-event.ts';

const FILTERS = {
  ...{ event_types: [], timeline_types: [], severities: [], statuses: [], services: [], team_ids: [], roles: [] },
};
const CONTEXT = {
  ...{ severities: [], statuses: [], services: [], incidents: [{ id: 4, title: 'Checkout is down' }] },
  users: [{ id: 42, name: 'Ana' }],
};

test.each([
  [null, 'draft', 'post-mortem begun by Ana'],
  ['draft', 'in_review', 'post-mortem put into review by Ana'],
  ['in_review', 'published', 'post-mortem published by Ana'],
  ['published', 'draft', 'post-mortem made a draft again by Ana'],
])('a post-mortem that was %s and is %s', (previous_state, state, what) => {
  const data = {
    incident: { id: 4, reference: 'INC-4' },
    ...{ postmortem: { revision: 2, state, previous_state }, actor: '42', api_key: { name: 'x', prefix: 'tcn_8sQ2' } },
  };
  const event = {
    ...{ id: 'e', type: 'incident.postmortem_changed', occurred_at: '2026-11-23T09:00:00.000Z', data },
    workspace: { id: 1, slug: 'acme' },
  };
  const described = describeEvent(
    { type: event.type, body: JSON.stringify(event) },
    { filters: FILTERS, context: CONTEXT as never, linkOf: () => '' },
  );
  expect(described).toMatchObject({ reference: 'INC-4', title: 'Checkout is down', what, by: 'Ana' });
});
