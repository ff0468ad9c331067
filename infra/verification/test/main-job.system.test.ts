import { createHmac, timingSafeEqual } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { type Client, eventually, type ReceivedRequest, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { Webhook } from 'standardwebhooks';
import { running, runningSystem } from '../systems/running.ts';

describeWithServers('an incident declared through the gateway', () => {
  const receiver = running(startReceiver);
  const system = runningSystem(() => ({ receivers: [receiver] }));
  const client = running(async () => system.as());
  let secret: string;

  const eventsFor = (reference: string) =>
    receiver.requests.filter(({ body }) => JSON.parse(body).resource.reference === reference);

  test('a signed request verifies a subscription', async () => {
    const created = await client.post('/api/v1/settings/webhooks', { url: receiver.url() });
    expect(created.status).toBe(201);
    secret = created.body.secret;
    expect(created.body.webhook).toMatchObject({ status: 'paused', url: 'https://localhost' });
    const verified = await client.post(`/api/v1/settings/webhooks/${created.body.webhook.id}/verify`);
    expect(verified).toMatchObject({ status: 200, body: { webhook: { status: 'active' } } });
    expect(receiver.requests).toHaveLength(1);
    verifyByHand(secret, receiver.requests[0]!);
  });

  test('reaches the receiver as a signed event, as the contract describes', async () => {
    const { status, body, headers } = await client.post(
      '/api/v1/incidents',
      { title: 'Checkout is down', service: 'checkout', regions: ['eu-west'], severity: 'sev1' },
      { 'X-Request-ID': 'walk-1', 'Idempotency-Key': 'walk-1' },
    );
    expect(status).toBe(201);
    expect(headers.get('X-Request-ID')).toBe('walk-1');
    const { incident } = body;
    const [event] = await eventually(() => (eventsFor('INC-1').length > 0 ? eventsFor('INC-1') : undefined));
    expect(event!.headers['content-type']).toBe('application/json');
    expect(JSON.parse(event!.body)).toEqual({
      id: event!.headers['webhook-id'],
      type: 'incident.created',
      schema_version: 1,
      occurred_at: incident.created_at,
      resource: { type: 'incident', id: incident.id, reference: 'INC-1', revision: 1 },
      data: {
        incident: {
          id: incident.id,
          reference: 'INC-1',
          created_at: incident.created_at,
          title: 'Checkout is down',
          service: 'checkout',
          regions: ['eu-west'],
          severity: 'sev1',
          status: 'open',
          issue_type: 'incident',
        },
      },
    });
    verifyByHand(secret, event!);
    new Webhook(secret, { format: 'raw' }).verify(event!.body, event!.headers as Record<string, string>);
  });

  test('carries the trace of its client to the receiver, without an SDK', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;
    const headersOfEvent = async (headers: Record<string, string>) => {
      const { body } = await client.post('/api/v1/incidents', { title: 'Traced' }, headers);
      const [event] = await eventually(() => {
        const events = eventsFor(body.incident.human_id);
        return events.length > 0 && events;
      });
      return event!.headers;
    };
    expect(await headersOfEvent({ traceparent, tracestate: 'vendor=1' })).toMatchObject({ traceparent });
    expect(await headersOfEvent({ traceparent, tracestate: 'vendor=1' })).not.toHaveProperty('tracestate');
    for (const malformed of [
      `00-${traceId}-0000000000000000-01`,
      `ff-${traceId}-00f067aa0ba902b7-01`,
      'x'.repeat(9_000),
    ]) {
      expect(await headersOfEvent({ traceparent: malformed })).not.toHaveProperty('traceparent');
    }
  });

  test('created twice with one idempotency key is one incident and one event', async () => {
    const send = async () => client.post('/api/v1/incidents', { title: 'Once' }, { 'Idempotency-Key': 'once' });
    const first = await send();
    const second = await send();
    expect(second.headers.get('Idempotency-Replayed')).toBe('true');
    expect(second.text).toBe(first.text);
    const reference = first.body.incident.human_id;
    await eventually(() => eventsFor(reference).length > 0);
    // An event of a second create would arrive before the event of a later incident.
    const later = await client.post('/api/v1/incidents', { title: 'Later' });
    await eventually(() => eventsFor(later.body.incident.human_id).length > 0);
    expect(eventsFor(reference)).toHaveLength(1);
  });

  describe('is rejected as the contract says', () => {
    const incident = { title: 'x' };
    const over = `{"title":"${'x'.repeat(1_048_576)}"}`;
    test.each<[string, (c: Client) => Promise<{ status: number; body: unknown; headers: Headers }>, number, object]>([
      [
        'without a valid token',
        (c) => c.post('/api/v1/incidents', incident, { Authorization: `Bearer tcs_${'a'.repeat(49)}` }),
        401,
        { code: 'authentication_required' },
      ],
      [
        'with an unknown property',
        (c) => c.post('/api/v1/incidents', { ...incident, titel: 'y' }),
        400,
        { code: 'unknown_field', field: 'titel' },
      ],
      [
        'in two documents',
        (c) => c.post('/api/v1/incidents', '{"title":"x"}{"title":"y"}'),
        400,
        { code: 'multiple_json_values' },
      ],
      ['in more than 1 MiB', (c) => c.post('/api/v1/incidents', over), 413, { code: 'request_body_too_large' }],
      [
        'at a stale revision',
        (c) => c.patch('/api/v1/incidents/1', {}, { 'If-Service-Resource-Version': '99' }),
        412,
        { code: 'precondition_failed', field: 'If-Service-Resource-Version' },
      ],
      [
        'with a key that was used for other content',
        (c) => c.post('/api/v1/incidents', incident, { 'Idempotency-Key': 'walk-1' }),
        409,
        { code: 'idempotency_key_reused' },
      ],
      ['with an unknown method', (c) => c.delete('/api/v1/incidents'), 405, { code: 'method_not_allowed' }],
      ['at an unknown path', (c) => c.get('/api/v1/incident'), 404, { code: 'not_found' }],
    ])('%s', async (_how, send, status, body) => {
      const answer = await send(client.with({ 'X-Request-ID': 'refusal-1' }));
      expect(answer).toMatchObject({ status, body: { ...body, request_id: 'refusal-1' } });
      expect(answer.headers.get('X-Request-ID')).toBe('refusal-1');
    });

    test('without the scope, the seat or the permission', async () => {
      const reader = await system.as({ scopes: ['incidents:read'] });
      expect((await reader.post('/api/v1/incidents', incident)).body).toMatchObject({
        code: 'missing_scope',
        details: { required_scope: 'incidents:write' },
      });
      const viewer = await system.as({ role: 'viewer', seat: 'none' });
      expect((await viewer.post('/api/v1/incidents', incident)).body).toMatchObject({
        code: 'responder_seat_required',
        details: { required_seat: 'responder' },
      });
      expect((await viewer.get('/api/v1/settings/webhooks')).body).toMatchObject({
        code: 'missing_role_permission',
        details: { required_permission: 'manage_settings' },
      });
    });

    test('for another workspace, which cannot see it', async () => {
      const other = await system.as({ workspace: 'initech' });
      const theirs = await other.post('/api/v1/incidents', { title: 'Theirs' });
      expect(theirs.body.incident.human_id).toBe('INC-1');
      expect((await client.get(`/api/v1/incidents/${theirs.body.incident.id}`)).status).toBe(404);
      expect((await other.get('/api/v1/incidents')).body.incidents).toHaveLength(1);
      expect((await other.get('/api/v1/settings/webhooks')).body.webhooks).toEqual([]);
      expect(
        (await system.anonymously('initech').get('/api/v1/incidents', { Authorization: `Bearer ${client.token}` }))
          .status,
      ).toBe(401);
    });
  });

  test('uses what other services have just created', async () => {
    const team = await client.post('/api/v1/teams', { name: 'Payments' });
    const service = await client.post('/api/v1/services', { name: 'Billing', owner_team_id: team.body.team.id });
    const declared = await client.post('/api/v1/incidents', { title: 'Late', service: service.body.service.slug });
    expect(declared.body.incident.team_id).toBe(team.body.team.id);
  });
});

/** Verifies the signature without a library. */
function verifyByHand(secret: string, { headers, body }: ReceivedRequest): void {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  const expected = createHmac('sha256', secret)
    .update(`${String(id)}.${String(timestamp)}.${body}`)
    .digest();
  const matches = String(signatures)
    .split(' ')
    .some((signature) => {
      const received = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
      return received.length === expected.length && timingSafeEqual(received, expected);
    });
  expect(matches).toBe(true);
  expect(Math.abs(Date.now() / 1_000 - Number(timestamp))).toBeLessThan(60);
}
