import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { QUEUES, SCOPES } from '@tocsin/schemas';
import { behave, eventually, refusal, startReceiver } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { SMTPServer } from 'smtp-server';
import { deleteRecordedBefore } from '../../src/feed/store/feed-trimmer.ts';
import { startService } from '../service.ts';
import { DESTINATIONS, publishedIncident } from './incident-events.ts';

const receiver = stopAfterAll(await startReceiver());
const dead = stopAfterAll(await startReceiver());

const mails: { to: string[]; text: string }[] = [];
let refusesMail: number | undefined;
const mailServer = new SMTPServer({
  disabledCommands: ['STARTTLS', 'AUTH'],
  onData: (stream, session, done) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.once('end', () => {
      if (refusesMail !== undefined) {
        done(Object.assign(new Error('mailbox unavailable'), { responseCode: refusesMail }));
        return;
      }
      const to = session.envelope.rcptTo.map(({ address }) => address);
      mails.push({ to, text: Buffer.concat(chunks).toString() });
      done();
    });
  },
});
await new Promise<void>((resolve) => mailServer.listen(0, '127.0.0.1', resolve));
stopAfterAll({ stop: async () => new Promise<void>((resolve) => mailServer.close(resolve)) });
const { port: mailPort } = mailServer.server.address() as { port: number };

let hasNameServer = true;
const resolve = async () => {
  if (hasNameServer) return ['127.0.0.1'];
  throw Object.assign(new Error('no name server'), { code: 'ECONNREFUSED' });
};

const service = stopAfterAll(
  await startService({
    receivers: [receiver, dead],
    settings: { SMTP_URL: `smtp://127.0.0.1:${mailPort}`, SMTP_FROM: 'Tocsin <tocsin@acme.example>' },
    overrides: { requestTimeout: 1_000, resolve },
  }),
);
service.broker.subscribe(QUEUES.incidentReplicas, async () => 'ack');

beforeEach(() => {
  receiver.requests.length = 0;
  receiver.respond = () => behave.answer(200, {}, 'ok');
  dead.respond = () => behave.hang();
  mails.length = 0;
  refusesMail = undefined;
  hasNameServer = true;
});
afterEach(async () => {
  dead.closeConnections();
  await service.reset();
});

const SLACK = () => ({ name: 'Chat', kind: 'slack', url: receiver.url('/services/T0/B0/secret-of-slack') });
const version = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });
const api = () => service.as();
async function create(body: object = SLACK()) {
  const created = await api().post(DESTINATIONS, body);
  if (created.status !== 201) throw new Error(`${created.status} ${created.text}`);
  const path = `${DESTINATIONS}/${created.body.destination.id}`;
  return { path, created: created.body.destination, current: async () => (await api().get(path)).body.destination };
}
const texts = () => receiver.requests.map(({ body }) => (JSON.parse(body) as { text: string }).text);
const arrived = async (text: string) => eventually(() => texts().join('\n').includes(text), { what: text });

describe('a destination', () => {
  test('shows scheme and host alone, in responses, the audit log and log lines', async () => {
    const { created, path } = await create({
      ...SLACK(),
      ...{ kind: 'http', credential: 'secret-of-signature', headers: { 'X-Key': 'secret-of-header' } },
    });
    expect(created).toMatchObject({
      ...{ url: 'https://localhost', has_credential: true, header_names: ['X-Key'], status: 'active', revision: 1 },
    });
    await publishedIncident(service).declare();
    await eventually(() => receiver.requests.length === 1);
    const [request] = receiver.requests;
    expect(request).toMatchObject({
      path: '/services/T0/B0/secret-of-slack',
      headers: { 'x-key': 'secret-of-header' },
    });
    const shown = [
      ...[(await api().get(path)).text, (await api().get(DESTINATIONS)).text, service.logged()],
      JSON.stringify(await service.knex('outbox').select('body')),
      JSON.stringify(await service.knex('destinations').select('name', 'origin', 'filters', 'header_names')),
    ].join('\n');
    expect(shown).not.toMatch(/secret-of/);
  });

  test('gets its first message at once: no look at all destinations has to find it', async () => {
    const unseen = await startService({ receivers: [receiver], overrides: { destinationInterval: 3_600_000 } });
    try {
      expect((await unseen.as().post(DESTINATIONS, SLACK())).status).toBe(201);
      await publishedIncident(unseen).declare();
      await eventually(() => receiver.requests.length === 1);
    } finally {
      await unseen.stop();
    }
  });

  test.each([
    ['url', { kind: 'slack' }],
    ['url', { kind: 'slack', url: 'http://hooks.acme.example/x' }],
    ['url', { kind: 'slack', url: 'https://10.0.0.1/x' }],
    ['url', { kind: 'email', recipients: ['ana@acme.example'], url: 'https://hooks.acme.example/x' }],
    ['credential', { kind: 'pagerduty' }],
    ['recipients', { kind: 'email' }],
    ['recipients.1', { kind: 'email', recipients: ['ana@acme.example', 'ben@acme.example'] }],
    ['template', { kind: 'slack', url: 'https://hooks.acme.example/x', template: 'a {{titel}}' }],
    ['template', { kind: 'pagerduty', credential: 'k', template: '{{title}}' }],
    ['headers', { kind: 'slack', url: 'https://hooks.acme.example/x', headers: { 'X-Key': 'k' } }],
  ])('is refused by %s: %j', async (field, body) => {
    const answer = await api().post(DESTINATIONS, { name: 'Chat', ...body });
    expect(answer).toMatchObject(refusal(400, 'invalid_request', { field }));
    expect(await service.knex('destinations').select('id')).toEqual([]);
  });

  test('has a name of its own, so that a create that is repeated makes no second one', async () => {
    await create();
    expect(await api().post(DESTINATIONS, { ...SLACK(), name: 'CHAT' })).toMatchObject({ status: 409 });
    expect(await service.knex('destinations').select('id')).toHaveLength(1);
  });

  test('is one of twenty', async () => {
    for (let nth = 0; nth < 20; nth += 1) await create({ ...SLACK(), name: `Chat ${nth}` });
    expect(await api().post(DESTINATIONS, { ...SLACK(), name: 'Chat 20' })).toMatchObject({ status: 409 });
  });

  test('is changed by its revision, and keeps what a PATCH does not name', async () => {
    const { path, created } = await create({ ...SLACK(), filters: { severities: ['sev1'] } });
    const changed = await api().patch(path, { name: 'Renamed' }, version(1));
    expect(changed.body.destination).toMatchObject({
      ...{ revision: 2, name: 'Renamed', url: created.url, filters: { severities: ['sev1'] } },
    });
    expect(await api().patch(path, { name: 'Late' }, version(1))).toMatchObject({ status: 412 });
    expect((await api().patch(path, { name: 'Renamed' }, version(2))).body.destination.revision).toBe(2);
    await publishedIncident(service).declare();
    await arrived('declared');
  });

  test('leaves out what happens while it is paused, and ends when it is archived', async () => {
    const { path } = await create();
    const incident = publishedIncident(service);
    expect(await api().post(`${path}/pause`)).toMatchObject({
      status: 200,
      body: { destination: { status: 'paused' } },
    });
    await incident.declare();
    expect(await api().post(`${path}/resume`)).toMatchObject({ status: 200 });
    await incident.change({ status: 'monitoring' });
    await arrived('Monitoring');
    expect(texts().join('\n')).not.toMatch(/declared/);
    const { body } = await api().post(`${path}/archive`);
    expect(body.destination).toMatchObject({ status: 'archived', has_credential: false });
    expect(await api().post(`${path}/archive`)).toMatchObject({ status: 200 });
    expect(await api().post(`${path}/resume`)).toMatchObject({ status: 409 });
    expect(await service.knex('destinations').select('ciphertext', 'key_id')).toEqual([
      { ciphertext: null, key_id: null },
    ]);
    expect((await api().get(DESTINATIONS)).body.destinations).toEqual([]);
  });

  test('of another workspace does not exist', async () => {
    const { path } = await create();
    const other = service.as({ workspace: { id: 2 } });
    for (const answer of [await other.get(path), await other.post(`${path}/test`), await other.post(`${path}/archive`)])
      expect(answer).toMatchObject({ status: 404 });
  });
});

describe('messages', () => {
  test('join what happens meanwhile, and leave out only what is refused alone', async () => {
    const { current } = await create();
    receiver.respond = ({ body }) => behave.answer(body.includes('poison') ? 400 : 200, {}, 'ok');
    const incident = publishedIncident(service);
    await incident.declare();
    await arrived('declared');
    for (const body of ['first', 'poison', 'third']) await incident.note(body);
    await arrived('third');
    await eventually(async () => (await current()).left_out > 0);
    const accepted = texts().filter((text) => !text.includes('poison'));
    expect(accepted.join('\n')).toMatch(/declared[^]*first/);
    expect(await current()).toMatchObject({ status: 'active' });
  });

  test.each([301, 401, 404, 405, 410, 422])('that are answered with %d', async (status) => {
    const { current } = await create();
    receiver.respond = () => behave.answer(status, { location: receiver.url('/elsewhere') });
    await publishedIncident(service).declare();
    const isDenied = status !== 422;
    await eventually(async () => {
      const { left_out, status: state } = await current();
      return isDenied ? state === 'failing' : left_out === 1;
    });
    expect((await current()).left_out).toBe(isDenied ? 0 : 1);
    // No redirect is followed.
    expect(new Set(receiver.requests.map(({ path }) => path))).toEqual(new Set(['/services/T0/B0/secret-of-slack']));
  });

  test('go on at another address, and lose nothing', async () => {
    const { path, current } = await create();
    receiver.respond = () => behave.answer(404);
    const incident = publishedIncident(service);
    await incident.declare();
    await eventually(async () => (await current()).status === 'failing');
    receiver.respond = () => behave.answer(200, {}, 'ok');
    const before = receiver.requests.length;
    expect(await api().patch(path, { url: receiver.url('/new') }, version(1))).toMatchObject({ status: 200 });
    await eventually(() => receiver.requests.length > before);
    expect(receiver.requests.slice(before)).toMatchObject([
      { path: '/new', body: expect.stringContaining('declared') },
    ]);
    await eventually(async () => (await current()).status === 'active');
  });

  test('that no longer fit come with the next one', async () => {
    await create({ name: 'Chat', kind: 'discord', url: receiver.url('/api/webhooks/1/x') });
    const incident = publishedIncident(service);
    const contents = () =>
      receiver.requests
        .filter(({ path }) => path.startsWith('/api/webhooks/1/x'))
        .map(({ body }) => (JSON.parse(body) as { content: string }).content);
    // The first comes at once, and what happens meanwhile is joined.
    await incident.declare();
    await eventually(() => contents().length === 1);
    for (const letter of ['a', 'b', 'c']) await incident.note(letter.repeat(900));
    await eventually(() => contents().join('').includes('c'.repeat(900)));
    expect(contents().every((content) => content.length <= 2_000)).toBe(true);
    expect(contents().join('')).toMatch(/declared[^]*a{900}[^]*b{900}[^]*c{900}/);
    expect(contents().length).toBeGreaterThan(2);
  });

  test('go on behind events that the feed has deleted', async () => {
    receiver.respond = () => behave.answer(503);
    const { current } = await create();
    const incident = publishedIncident(service, { title: 'Deleted' });
    await incident.declare();
    await eventually(async () => (await current()).last_failure?.status === 503);
    service.clock.advance(1_000);
    await deleteRecordedBefore(service.knex, service.clock.now());
    await incident.change({ title: 'Kept' });
    receiver.respond = () => behave.answer(200, {}, 'ok');
    receiver.requests.length = 0;
    service.clock.advance(2_000);
    await arrived('Kept');
    expect(texts().join('')).not.toMatch(/declared/);
  });

  test('have the events that pass all filters', async () => {
    const filters = { severities: ['sev1'], team_ids: [7], event_types: ['incident.created', 'incident.updated'] };
    await create({ ...SLACK(), filters });
    const incident = publishedIncident(service, { severity: 'sev3' });
    await incident.declare();
    await incident.change({ title: 'Still sev3' });
    await incident.change({ severity: 'sev1' });
    await incident.note('not of these types');
    await incident.change({ service: 'search' });
    await publishedIncident(service, { id: 5, reference: 'INC-5', service: 'search' }).declare();
    await incident.change({ service: 'checkout' });
    await arrived('search → checkout');
    const all = texts().join('\n');
    expect(all).toMatch(/SEV-3 → SEV-1[^]*checkout → search[^]*search → checkout/);
    expect(all).not.toMatch(/declared|→ Still|not of these|INC-5/);
  });

  test('tell a pager what enters and leaves its filters', async () => {
    const url = receiver.url('/v2/enqueue');
    await create({ name: 'Pager', kind: 'pagerduty', credential: 'K', url, filters: { severities: ['sev1'] } });
    const incident = publishedIncident(service, { severity: 'sev3' });
    await incident.declare();
    await incident.change({ severity: 'sev1' });
    await incident.change({ severity: 'sev2' });
    await incident.change({ severity: 'sev1' });
    await incident.change({ status: 'resolved' });
    await incident.change({ status: 'open' });
    await incident.publish('incident.archived', {
      incident: { ...incidentOf('sev1'), archived_at: '2026-11-20T10:00:00.000Z' },
      ...{ changes: [{ field: 'archived_at', from: null, to: '2026-11-20T10:00:00.000Z' }], actor: '42' },
    });
    await eventually(() => receiver.requests.length === 6);
    const actions = receiver.requests.map(({ body }) => (JSON.parse(body) as { event_action: string }).event_action);
    expect(actions).toEqual(['trigger', 'resolve', 'trigger', 'resolve', 'trigger', 'resolve']);
  });

  test('of restricted incidents go where somebody has said so who sees them', async () => {
    await create();
    const outsider = service.as({ scopes: SCOPES.filter((scope) => scope !== 'restricted:read') });
    const body = { ...SLACK(), name: 'All', include_restricted: true };
    expect(await outsider.post(DESTINATIONS, body)).toMatchObject({ status: 403 });
    const { path } = await create({ ...body, url: receiver.url('/all') });
    expect(await outsider.patch(path, { name: 'Other' }, version(1))).toMatchObject({ status: 403 });
    expect(await outsider.post(`${path}/test`)).toMatchObject({ status: 200 });
    await publishedIncident(service, { title: 'Secret', restricted: true }).declare({ restricted: true });
    await publishedIncident(service, { id: 5, reference: 'INC-5', title: 'Public' }).declare();
    await eventually(() => receiver.requests.filter(({ body: text }) => text.includes('Public')).length === 2);
    const paths = receiver.requests.filter(({ body: text }) => text.includes('Secret')).map(({ path: at }) => at);
    expect(new Set(paths)).toEqual(new Set(['/all']));
    // Who may not know of them does not learn when there was one.
    await eventually(async () => (await api().get(path)).body.destination.last_success_at !== null);
    expect((await outsider.get(path)).body.destination.last_success_at).toBeNull();
  });

  test('are not delayed by those that never answer', async () => {
    for (let nth = 0; nth < 6; nth += 1) await create({ ...SLACK(), name: `Dead ${nth}`, url: dead.url(`/${nth}`) });
    await create();
    const incident = publishedIncident(service);
    await incident.declare();
    await arrived('declared');
    await eventually(async () => {
      const { body } = await api().get(DESTINATIONS);
      return (
        (body.destinations as { last_failure: { reason: string } | null }[]).filter(
          ({ last_failure }) => last_failure?.reason === 'timeout',
        ).length === 6
      );
    });
  });

  test('wait for a name server, which is no failure of the destination', async () => {
    const { current } = await create();
    hasNameServer = false;
    await publishedIncident(service).declare();
    await eventually(async () => (await current()).last_failure !== null);
    expect(await current()).toMatchObject({ status: 'active', last_failure: { reason: 'dns', status: null } });
    expect(await service.knex('destinations').first('failures')).toEqual({ failures: 0 });
    hasNameServer = true;
    service.clock.advance(30_000);
    await arrived('declared');
  });

  test('wait while names cannot be looked up, and count no failure', async () => {
    const { current } = await create();
    service.incidents.down = true;
    await publishedIncident(service).declare();
    await eventually(() => service.logged().includes('cannot send to a destination'));
    expect(await current()).toMatchObject({ status: 'active', last_failure: null });
    service.incidents.down = false;
    // It may have tried once more, before it knew.
    await eventually(() => {
      service.clock.advance(5_000);
      return texts().join('').includes('declared by Monitor (key of Ana)');
    });
  });
});

describe('mail', () => {
  const MAIL = { name: 'Mail', kind: 'email', recipients: ['ana@acme.example'] };

  test('goes to active users, with what happened', async () => {
    await create(MAIL);
    await publishedIncident(service, { title: 'Kasse \u2013 außer Betrieb' }).declare();
    await eventually(() => mails.length === 1);
    expect(mails[0]).toMatchObject({ to: ['ana@acme.example'] });
    expect(mails[0]!.text).toMatch(/^From: Tocsin <tocsin@acme\.example>/m);
    expect(mails[0]!.text).toMatch(/^Subject: =\?UTF-8\?/m);
  });

  test('does not go to somebody who has left', async () => {
    const { current } = await create(MAIL);
    const { users } = service.incidents.context;
    service.incidents.context = {
      ...service.incidents.context,
      users: users.map((user) => ({ ...user, active: false })),
    };
    await publishedIncident(service).declare();
    await eventually(async () => (await service.knex('destinations').first('position')).position > 0);
    expect(mails).toEqual([]);
    expect(await current()).toMatchObject({ status: 'active', last_success_at: null });
  });

  test('waits for a server that is busy, and leaves out what it refuses', async () => {
    const { current } = await create(MAIL);
    refusesMail = 451;
    await publishedIncident(service).declare();
    await eventually(async () => (await current()).last_failure?.status === 503);
    refusesMail = 550;
    service.clock.advance(2_000);
    await eventually(async () => (await current()).left_out === 1);
  });
});

const incidentOf = (severity: string) => ({
  ...{ id: 4, reference: 'INC-4', revision: 9, title: 'Checkout is down', service: 'checkout', regions: [], severity },
  ...{ status: 'open', issue_type: 'incident', impact_summary: '', team_id: null, created_by: '42' },
  ...{ created_at: '2026-11-20T09:30:00.000Z', archived_at: null },
});
