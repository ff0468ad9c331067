import { describe, expect, test } from '@jest/globals';
import type { IncidentSnapshot } from '@tocsin/schemas';
import { incidentCreatedBody, resourceUrl, verificationBody } from '../src/requests/domain/envelope.ts';
import { webhooks } from '../src/http/documentation.ts';

const OCCURRED_AT = '2026-11-20T09:30:00.000Z';
const ID = '018f6a52-5f0e-4c66-9a3c-2f5d1c0f7a11';

const full: IncidentSnapshot = {
  id: 17,
  reference: 'INC-4',
  revision: 1,
  title: 'Checkout is down',
  service: 'checkout',
  regions: ['eu-west'],
  severity: 'sev1',
  status: 'open',
  issue_type: 'incident',
  impact_summary: 'Customers cannot pay',
  team_id: 3,
  created_at: OCCURRED_AT,
  created_by: '42',
  archived_at: null,
};

describe('the API description of the webhooks', () => {
  const parse = (type: string, body: string) => webhooks[type]?.body.parse(JSON.parse(body));

  test.each<[string, IncidentSnapshot, string | undefined]>([
    ['everything', full, 'https://acme.example/incidents/17'],
    ['no optional property', { ...full, service: '', regions: [], impact_summary: '' }, undefined],
  ])('matches the body of incident.created with %s', (_, incident, url) => {
    const isRestricted = url !== undefined;
    const body = incidentCreatedBody({ eventId: ID, occurredAt: OCCURRED_AT, incident, isRestricted, url });
    expect(parse('incident.created', body)).toEqual(JSON.parse(body));
  });

  test('has no property that is empty or internal in the body', () => {
    const bare = {
      ...full,
      title: '',
      service: '',
      regions: [],
      severity: '',
      status: '',
      issue_type: '',
      impact_summary: '',
    };
    const body = incidentCreatedBody({
      ...{ eventId: ID, occurredAt: OCCURRED_AT, incident: bare },
      ...{ isRestricted: false, url: undefined },
    });
    expect(JSON.parse(body)).toEqual({
      id: ID,
      type: 'incident.created',
      schema_version: 1,
      occurred_at: OCCURRED_AT,
      resource: { type: 'incident', id: 17, reference: 'INC-4', revision: 1 },
      data: { incident: { id: 17, reference: 'INC-4', created_at: OCCURRED_AT } },
    });
  });

  test('matches the body of a verification', () => {
    const body = verificationBody(ID, OCCURRED_AT, '0b8f6a52-5f0e-4c66-9a3c-2f5d1c0f7a11');
    expect(parse('webhook.verification', body)).toEqual(JSON.parse(body));
  });
});

test('a link template is filled with the workspace, the ID and the reference', () => {
  expect(resourceUrl('https://{workspace}.example.com/i/{reference}?id={id}', 'acme', full)).toBe(
    'https://acme.example.com/i/INC-4?id=17',
  );
});
