import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as conventions from '@opentelemetry/semantic-conventions/incubating';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { BUSY_MACHINE, behave, eventually, httpClient, type Receiver, startReceiver } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import type { RunningCommand } from '../../verification/systems/commands.ts';
import { type LocalHarness, localHarness } from '../../verification/systems/local-harness.ts';
import { type ExportedSpan, startTraceCollector, type TraceCollector, traceTree } from './trace-collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CLIENT_SPAN = '00f067aa0ba902b7';
/** In texts that no span may have. */
const SECRET = 'zanzibar';

describeWithServers('a trace across all processes', () => {
  let collector: TraceCollector;
  let receiver: Receiver;
  let harness: LocalHarness;
  let command: RunningCommand;
  let token: string;
  let secret: string;

  beforeAll(async () => {
    collector = await startTraceCollector();
    receiver = await startReceiver();
    harness = await localHarness();
    const ca = path.join(harness.folder, 'ca.pem');
    await writeFile(ca, receiver.ca);
    command = harness.start({
      ...BUSY_MACHINE,
      ...collector.settings,
      NODE_EXTRA_CA_CERTS: ca,
      WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
    });
    await command.ready();
    token = await harness.workspace('acme');
  });
  afterAll(async () => {
    command.signal('SIGKILL');
    await command.ended();
    await harness.remove();
    await receiver.stop();
    await collector.stop();
  });

  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE);
  const named = (name: string): ExportedSpan[] => ofTrace().filter((span) => span.name === name);

  /** The span with this name whose parent is that one. */
  const child = (parent: { spanId: string }, name: string, attributes: object = {}): ExportedSpan => {
    const found = named(name).filter(({ parentSpanId }) => parentSpanId === parent.spanId);
    const [span] = found.filter((one) =>
      Object.entries(attributes).every(([key, value]) => one.attributes[key] === value),
    );
    if (span === undefined)
      throw new Error(`${name} is no child of ${parent.spanId}:\n${traceTree(ofTrace(), CLIENT_SPAN)}`);
    return span;
  };

  test('begins at the client and ends at the second attempt of a webhook', async () => {
    const client = httpClient(`http://127.0.0.1:${harness.port}`, {
      Host: 'acme.localhost',
      Authorization: `Bearer ${token}`,
    });
    const webhook = await client.post('/api/v1/settings/webhooks', { url: receiver.url(`/${SECRET}?key=${SECRET}`) });
    secret = webhook.body.secret;
    expect((await client.post(`/api/v1/settings/webhooks/${webhook.body.webhook.id}/verify`)).status).toBe(200);
    const verifications = receiver.requests.length;
    receiver.respond = () => behave.answer(receiver.requests.length === verifications + 1 ? 503 : 204);

    const { status } = await client.post(
      '/api/v1/incidents',
      { title: `The ${SECRET} is down` },
      {
        // Not sampled, but the client does not decide.
        traceparent: `00-${TRACE}-${CLIENT_SPAN}-00`,
        tracestate: 'vendor=of-the-client',
        'X-Request-ID': 'request-of-the-trace',
        'Idempotency-Key': SECRET,
      },
    );
    expect(status).toBe(201);
    await eventually(() => named('attempt delivery').length === 2);
    const requests = receiver.requests.slice(verifications);
    expect(requests.map(({ headers }) => headers['tracestate'])).toEqual([undefined, undefined]);

    const gateway = child({ spanId: CLIENT_SPAN }, 'POST /api/v1/incidents', { 'tocsin.workspace': 'acme' });
    const forward = child(gateway, 'POST /api/v1/incidents', { 'server.service.name': 'tocsin-incident' });
    const incident = child(forward, 'POST /api/v1/incidents', { 'http.route': '/api/v1/incidents' });
    child(incident, 'insert-incident-key', { 'db.system.name': 'postgresql' });
    const publish = ofTrace().find(
      ({ parentSpanId, name }) => parentSpanId === incident.spanId && name.startsWith('publish '),
    );
    const consume = ofTrace().find(
      ({ parentSpanId, name }) => parentSpanId === publish?.spanId && name.endsWith('webhook.feed'),
    );
    const attempts = named('attempt delivery').sort((a, b) => a.start - b.start);
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([consume!.spanId, consume!.spanId]);
    expect(attempts.map(({ attributes }) => attributes['tocsin.attempt'])).toEqual([1, 2]);
    const posts = attempts.map((attempt) => child(attempt, 'POST'));
    expect(posts.map(({ attributes }) => attributes['http.response.status_code'])).toEqual([503, 204]);
    expect(posts.map(({ status: code }) => code)).toEqual([2, 0]);
    // The receiver can continue the trace below the request that it got.
    expect(requests.map(({ headers }) => headers['traceparent'])).toEqual(
      posts.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
    );
    expect(posts[0]!.attributes['url.full']).toBe(`https://${receiver.hostAndPort()}`);

    expect([gateway, forward, incident, publish!, consume!, ...attempts].map(({ service }) => service)).toEqual([
      'tocsin-gateway',
      'tocsin-gateway',
      'tocsin-incident',
      'tocsin-incident',
      ...Array.from({ length: 3 }, () => 'tocsin-webhook'),
    ]);
    expect(incident.attributes).toMatchObject({
      'http.request.method': 'POST',
      'http.response.status_code': 201,
      'tocsin.request_id': 'request-of-the-trace',
    });
  });

  test('is named in log lines', () => {
    const lines = command
      .output()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.includes(TRACE))
      .map((line) => JSON.parse(line) as { app: string; msg: string; trace_id: string });
    for (const line of lines) expect(line.trace_id).toBe(TRACE);
    expect(lines.map(({ app, msg }) => `${app}: ${msg}`)).toEqual(
      expect.arrayContaining(['gateway: request', 'webhook: delivery attempt']),
    );
  });

  test('has only attributes of the semantic conventions, and our own', () => {
    const known = new Set<unknown>(
      Object.entries(conventions).flatMap(([name, value]) => (name.startsWith('ATTR_') ? [value] : [])),
    );
    const attributes = new Set(collector.spans.flatMap((span) => Object.keys(span.attributes)));
    expect([...attributes].filter((name) => !known.has(name) && !name.startsWith('tocsin.'))).toEqual([]);
    expect(attributes.size).toBeGreaterThan(20);
  });

  test('is exported to its last span when the processes stop, without a secret', async () => {
    command.signal('SIGTERM');
    expect(await command.ended()).toBe(0);
    const exported = collector.text();
    for (const text of [token, secret, SECRET]) expect(exported).not.toContain(text);
    const ids = new Set(ofTrace().map(({ spanId }) => spanId));
    const orphans = ofTrace().filter(({ parentSpanId }) => parentSpanId !== CLIENT_SPAN && !ids.has(parentSpanId));
    expect(orphans.map(({ name }) => name)).toEqual([]);
  });
});
