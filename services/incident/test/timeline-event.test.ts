import { describe, expect, test } from '@jest/globals';
import {
  edit,
  isReservedType,
  newTimelineEvent,
  summaryOf,
  type TimelineEvent,
} from '../src/timeline/domain/timeline-event.ts';

const startedAt = '2026-11-20T09:00:00.000Z';
const sooner = '2026-11-20T08:59:59.999Z';
const later = '2026-11-20T10:00:00.000Z';

const recorded = (properties: Partial<TimelineEvent> = {}) =>
  newTimelineEvent({
    incidentId: 1,
    source: 'api',
    createdBy: '42',
    properties: { startedAt, body: 'Deployed', ...properties },
  });
const event = (properties: Partial<TimelineEvent> = {}): TimelineEvent => ({ ...recorded(), id: 5, ...properties });
const invalid = (field: string) => expect.objectContaining({ code: 'invalid_request', field });

describe('a new event', () => {
  test('has defaults for missing properties', () => {
    expect(recorded()).toMatchObject({
      revision: 1,
      type: 'note',
      icon: '',
      title: '',
      tags: [],
      isKey: false,
      isOngoing: false,
      endedAt: null,
      groupId: null,
      collaborationGeneration: 1,
    });
  });
  test('must not end before its start or have an end while it is ongoing', () => {
    expect(() => recorded({ endedAt: sooner })).toThrow(invalid('ended_at'));
    expect(() => recorded({ endedAt: later, isOngoing: true })).toThrow(invalid('is_ongoing'));
    expect(recorded({ endedAt: startedAt }).endedAt).toBe(startedAt);
  });
});

describe('editing', () => {
  test.each([
    [{ title: 'a' }, 2],
    [{ body: 'b' }, 2],
    [{ title: 'a', body: 'b' }, 2],
    [{ isKey: true }, 1],
    [{ tags: ['db'] }, 1],
  ])('%j leads to generation %i and revision 2', (change, collaborationGeneration) => {
    expect(edit(event(), change)).toMatchObject({ ...change, revision: 2, collaborationGeneration });
  });
  test('with equal values changes nothing', () => {
    const before = event({ tags: ['db'] });
    expect(edit(before, { tags: ['db'], body: 'Deployed' })).toBe(before);
  });
  test('validates the resulting span and names the given property', () => {
    const ended = event({ endedAt: later });
    expect(() => edit(ended, { startedAt: '2026-11-20T10:00:00.001Z' })).toThrow(invalid('started_at'));
    expect(() => edit(ended, { endedAt: sooner })).toThrow(invalid('ended_at'));
    expect(() => edit(ended, { isOngoing: true })).toThrow(invalid('is_ongoing'));
    expect(() => edit(event({ isOngoing: true }), { endedAt: later })).toThrow(invalid('is_ongoing'));
    expect(edit(ended, { isOngoing: true, endedAt: null })).toMatchObject({ isOngoing: true, endedAt: null });
  });
  test('cannot set a reserved type but may keep one', () => {
    expect(() => edit(event(), { type: 'Resolution' })).toThrow(invalid('type'));
    expect(edit(event({ type: 'resolution' }), { type: 'resolution', isKey: true })).toMatchObject({ isKey: true });
  });
});

test.each(['ai_suggested', 'investigation', 'resolution', 'closure', 'reopening', 'status_change', 'import', 'IMPORT'])(
  '%s is reserved',
  (type) => {
    expect(isReservedType(type)).toBe(true);
  },
);

test('the summary is the title, else the first 140 code points of the body', () => {
  expect(summaryOf({ title: 'Rollback', body: 'x' })).toBe('Rollback');
  expect(summaryOf({ title: '', body: '🔥'.repeat(200) })).toBe('🔥'.repeat(140));
  expect(summaryOf({ title: '', body: `a${'🔥'.repeat(200)}` })).toBe(`a${'🔥'.repeat(139)}`);
});
