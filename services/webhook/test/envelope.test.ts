import { expect, test } from '@jest/globals';
import type { IncidentSnapshot } from '@tocsin/contracts';
import { incidentCreatedBody, resourceUrl, verificationBody } from '../src/requests/domain/envelope.ts';

const eventId = '6f1c2a52-0f0e-4c53-9d2b-2b1d7f3f9a10';
const occurredAt = '2026-11-20T09:30:00.000Z';
const incident: IncidentSnapshot = {
  id: 17,
  reference: 'INC-3',
  revision: 1,
  title: 'Checkout is down',
  service: 'checkout',
  regions: ['eu', 'us'],
  severity: 'sev1',
  status: 'open',
  issue_type: 'incident',
  impact_summary: 'Nobody can pay',
  team_id: 4,
  created_at: occurredAt,
  created_by: '42',
  archived_at: null,
};

test('an incident with all properties', () => {
  const url = 'https://acme.example.com/incidents/INC-3';
  expect(JSON.parse(incidentCreatedBody({ eventId, occurredAt, incident, url }))).toEqual({
    id: eventId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'incident', id: 17, reference: 'INC-3', revision: 1, url },
    data: {
      incident: {
        id: 17,
        reference: 'INC-3',
        created_at: occurredAt,
        title: 'Checkout is down',
        service: 'checkout',
        regions: ['eu', 'us'],
        severity: 'sev1',
        status: 'open',
        issue_type: 'incident',
        impact_summary: 'Nobody can pay',
      },
    },
  });
});

test('empty and internal properties are omitted', () => {
  const bare = {
    ...incident,
    title: '',
    service: '',
    regions: [],
    severity: '',
    status: '',
    issue_type: '',
    impact_summary: '',
  };
  expect(JSON.parse(incidentCreatedBody({ eventId, occurredAt, incident: bare, url: undefined }))).toEqual({
    id: eventId,
    type: 'incident.created',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'incident', id: 17, reference: 'INC-3', revision: 1 },
    data: { incident: { id: 17, reference: 'INC-3', created_at: occurredAt } },
  });
});

test('the verification of a receiver', () => {
  expect(JSON.parse(verificationBody(eventId, occurredAt, 'wh_1'))).toEqual({
    id: eventId,
    type: 'webhook.verification',
    schema_version: 1,
    occurred_at: occurredAt,
    resource: { type: 'webhook', id: 'wh_1' },
  });
});

test('a link template is filled with the workspace, the ID and the reference', () => {
  expect(resourceUrl('https://{workspace}.example.com/i/{reference}?id={id}', 'acme', incident)).toBe(
    'https://acme.example.com/i/INC-3?id=17',
  );
});
