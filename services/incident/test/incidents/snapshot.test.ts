import { describe, expect, test } from '@jest/globals';
import {
  incidentSnapshot as consumedIncident,
  publishedIncident,
  timelineEventSnapshot as wire,
} from '@tocsin/schemas';
import { toLargeValue } from '../../src/incidents/domain/large-value.ts';
import { incidentSnapshot } from '../../src/incidents/domain/snapshot.ts';
import {
  timelineEventSnapshot,
  newTimelineEvent,
  type TimelineEvent,
} from '../../src/timeline/domain/timeline-event.ts';
import { anIncident } from './incident.ts';

/** Four bytes of UTF-8. */
const WIDE = '🔥';
/** Six bytes of JSON. */
const ESCAPED = '\u0001';

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
const anEvent = (properties: Partial<TimelineEvent> = {}): TimelineEvent => ({
  ...newTimelineEvent({
    incidentId: 1,
    source: 'api',
    createdBy: '42',
    createdByKey: null,
    properties: { startedAt: '2026-11-20T09:00:00.000Z', body: 'Down' },
  }),
  id: 7,
  ...properties,
});

describe('an incident in an event', () => {
  test('has every property of the contract and no other', () => {
    const snapshot = incidentSnapshot(anIncident());
    expect(publishedIncident.strict().parse(snapshot)).toEqual(snapshot);
  });

  test('has large values of later properties as digests, and what webhooks send in full', () => {
    const url = `https://meet.example/${WIDE.repeat(1_020)}`;
    const summary = 'ä'.repeat(10_000);
    const fields = { blob: { a: 'x'.repeat(5_000) }, small: 'x', constructor: 1 };
    const snapshot = incidentSnapshot(anIncident({ meetUrl: url, impactSummary: summary, customFields: fields }));
    expect(snapshot).toMatchObject({ meet_url: toLargeValue(url), impact_summary: summary, doc_url: '' });
    expect(snapshot.custom_fields).toEqual({ blob: toLargeValue(fields.blob), small: 'x', constructor: 1 });
  });

  test('is bounded, however large the incident is', () => {
    const largest = anIncident({
      title: ESCAPED.repeat(255),
      regions: Array.from({ length: 100 }, () => WIDE.repeat(32)),
      impactSummary: ESCAPED.repeat(10_000),
      meetUrl: `https://${ESCAPED.repeat(2_000)}`,
      docUrl: `https://${ESCAPED.repeat(2_000)}`,
      incidentResponders: Array.from({ length: 100 }, () => '9'.repeat(16)),
      roles: Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [
          `r${index}`.padEnd(64, '-'),
          Array.from({ length: 20 }, () => '9'.repeat(16)),
        ]),
      ),
      customFields: Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`f${index}`, 'x'.repeat(500)])),
    });
    expect(bytesOf(incidentSnapshot(largest))).toBeLessThan(196_608);
  });
});

describe('a timeline event in an event', () => {
  test('has every property of the contract and no other, but the largest as digests', () => {
    const largest = anEvent({
      body: ESCAPED.repeat(65_536),
      title: ESCAPED.repeat(255),
      tags: Array.from({ length: 50 }, () => ESCAPED.repeat(64)),
      aiContext: WIDE.repeat(65_536),
      sourceRef: `https://${WIDE.repeat(1_020)}`,
      evidenceLinks: Array.from({ length: 100 }, () => ({ source: 'grafana', url: `https://${WIDE.repeat(500)}` })),
    });
    for (const event of [anEvent(), largest]) {
      const snapshot = timelineEventSnapshot(event);
      expect(wire.strict().parse(snapshot)).toEqual(snapshot);
      expect(bytesOf(snapshot)).toBeLessThan(8_192);
    }
    expect(timelineEventSnapshot(largest)).toMatchObject({ body: toLargeValue(largest.body) });
  });
});

test('an incident of an earlier release, without the later properties, can be consumed', () => {
  const { id, reference, revision, title, service, regions, severity, status, issue_type, ...rest } =
    incidentSnapshot(anIncident());
  const { impact_summary, team_id, created_at, created_by, archived_at } = rest;
  const earlier = {
    ...{ id, reference, revision, title, service, regions, severity, status, issue_type },
    ...{ impact_summary, team_id, created_at, created_by, archived_at },
  };
  expect(consumedIncident.parse(earlier)).toEqual(earlier);
});
