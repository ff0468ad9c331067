import { expect, test } from '@jest/globals';
import { decide, nextLook } from '../../src/trackers/domain/agreement.ts';
import { GITLAB } from '../../src/trackers/clients/kinds/gitlab.ts';
import type { TrackerApi } from '../../src/trackers/clients/tracker-api.ts';
import { afterFailure } from '../../src/trackers/domain/tracker.ts';

const AT = '2026-11-20T09:00:00.000Z';

test('the side changes that has the state on which both last agreed', () => {
  expect(decide('open', { here: 'open', there: 'done' })).toBe('here');
  expect(decide('open', { here: 'done', there: 'open' })).toBe('there');
  expect(decide('done', { here: 'done', there: 'open' })).toBe('here');
  expect(decide('done', { here: 'open', there: 'done' })).toBe('there');
  for (const state of ['open', 'done'] as const)
    for (const agreed of ['open', 'done'] as const)
      expect(decide(agreed, { here: state, there: state })).toBe('nobody');
});

test('what has been done for a month is not looked at any more', () => {
  expect(nextLook({ state: 'open', agreedAt: '2020-01-01T00:00:00.000Z' }, AT)).toBe('2026-11-20T09:15:00.000Z');
  expect(nextLook({ state: 'done', agreedAt: '2026-11-19T09:00:00.000Z' }, AT)).toBe('2026-11-21T09:00:00.000Z');
  expect(nextLook({ state: 'done', agreedAt: '2026-10-19T09:00:00.000Z' }, AT)).toBeNull();
});

test.each([
  ['timeout', 0, undefined, '2026-11-20T09:00:05.000Z'],
  ['timeout', 30, undefined, '2026-11-20T10:00:00.000Z'],
  ['denied', 0, undefined, '2026-11-20T09:01:00.000Z'],
  ['rate_limited', 0, 90_000, '2026-11-20T09:01:30.000Z'],
  ['rate_limited', 0, 90_000_000, '2026-11-21T09:00:00.000Z'],
])('after %s, with %i failures before and a wait of %s, it is asked again at %s', (reason, failures, wait, dueAt) => {
  const failure = { reason, status: null, at: AT, wait };
  expect(afterFailure({ failures, failingSince: null }, failure)).toMatchObject({ failures: failures + 1, dueAt });
});

test('a description carries nothing out in GitLab', async () => {
  const bodies: object[] = [];
  const api = (async ({ body }: { body: object }) => {
    bodies.push(body);
    return { iid: 1, web_url: 'https://gitlab.example/acme/shop/-/issues/1' };
  }) as unknown as TrackerApi;
  const paragraphs = ['First\n/close\n  /assign @ana', 'and/or'];
  await GITLAB.create(api, { project: 'acme/shop', issueType: '' }, { title: 'Title', paragraphs, marker: 'm' });
  expect(bodies).toMatchObject([{ description: 'First\n\\/close\n  \\/assign @ana\n\nand/or' }]);
});
