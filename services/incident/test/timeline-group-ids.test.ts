import { expect, test } from '@jest/globals';
import { assignGroupIds } from '../src/timeline/domain/timeline-group-ids.ts';

const existing = [
  { id: 3, name: 'Comms' },
  { id: 7, name: 'Infra' },
];

test.each([
  ['a given ID is kept', [{ id: 20, name: 'Ops' }], [20]],
  ['an existing name keeps its ID', [{ name: 'Infra' }, { name: 'Comms' }], [7, 3]],
  ['a new name gets a new ID', [{ name: 'Ops' }, { name: 'Law' }], [8, 9]],
  ['new IDs are beyond given ones', [{ name: 'Ops' }, { id: 30, name: 'Law' }], [31, 30]],
  ['an ID is given once', [{ name: 'Comms' }, { id: 3, name: 'Renamed' }, { name: 'Comms' }], [8, 3, 9]],
])('%s', (_what, requested, ids) => {
  expect(assignGroupIds(requested, existing).map(({ id }) => id)).toEqual(ids);
});
