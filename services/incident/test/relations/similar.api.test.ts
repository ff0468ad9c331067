import { beforeEach, describe, expect, test } from '@jest/globals';
import { serviceForFile } from '../service.ts';

const service = await serviceForFile();
/** Each test has one of its own. */
const workspace = { id: 1 };
const client = service.as({ workspace });
const RESTRICTED = ['incidents:read', 'incidents:write', 'restricted:read'];
const SEES_ALL = ['manage_settings', 'view_restricted'];

interface Declared {
  id: number;
  human_id: string;
}

interface Similar {
  incident_id: number;
  human_id: string;
  title: string;
  score: number;
}

const declare = async (title: string, properties: object = {}, as = client): Promise<Declared> =>
  (await as.post('/api/v1/incidents', { title, ...properties })).body.incident;
const find = async (title: string, of?: string, as = client): Promise<Similar[]> => {
  const query = new URLSearchParams({ title, ...(of !== undefined && { service: of }) });
  const { status, text, body } = await as.get(`/api/v1/incidents/similar?${query.toString()}`);
  if (status !== 200) throw new Error(text);
  return body.similar;
};
const titles = (similar: readonly Similar[]) => similar.map(({ title }) => title);

beforeEach(() => void (workspace.id += 1));

describe('similar incidents', () => {
  test('share rare words, and those of the service come first', async () => {
    for (let index = 0; index < 20; index += 1) await declare(`The database is slow ${index}`);
    await declare('Ledger exports fail in the database', { service: 'ledger' });
    await declare('Ledger exports fail in the database', { service: 'reports' });
    const kafka = await declare('Kafka consumers lag');
    const similar = await find('Ledger exports are late', 'ledger');
    expect(titles(similar)).toEqual(['Ledger exports fail in the database', 'Ledger exports fail in the database']);
    expect(similar[0]?.score).toBeGreaterThan(similar[1]?.score ?? 1);
    const { body } = await client.get(`/api/v1/incidents/${similar[0]?.incident_id}`);
    expect(body.incident.service).toBe('ledger');
    expect(similar[0]).toEqual({
      incident_id: body.incident.id,
      human_id: body.incident.human_id,
      title: 'Ledger exports fail in the database',
      status: 'open',
      severity: 'sev3',
      service: 'ledger',
      created_at: body.incident.created_at,
      score: expect.any(Number),
    });
    // A word that all others have tells less than one that a single one has.
    expect((await find('The database of Kafka is slow'))[0]?.incident_id).not.toBe(kafka.id);
    expect(titles(await find('Kafka is slow'))[0]).toBe('Kafka consumers lag');
    expect(await find('Nothing of the kind')).toEqual([]);
  });

  test('of an incident are at most five, the latest of equal ones first, without itself', async () => {
    const declared: Declared[] = [];
    while (declared.length < 7) declared.push(await declare('Certificate has expired'));
    const [first, ...others] = declared;
    const { status, body } = await client.get(`/api/v1/incidents/${first?.id}/similar`);
    expect(status).toBe(200);
    const latest = others.map(({ human_id: name }) => name).reverse();
    expect(body.similar.map((each: Similar) => [each.human_id, each.score])).toEqual(
      latest.slice(0, 5).map((name) => [name, 1]),
    );
    expect((await client.get('/api/v1/incidents/987654321/similar')).status).toBe(404);
  });

  test.each([
    ['forms and endings', 'Zahlungsverkehr gesto\u0308rt', 'ZAHLUNGEN GESTÖRT'],
    ['Arabic', 'خدمة الدفع لا تستجيب', 'الدفع متوقف'],
    ['texts without spaces', '東京の支払いが遅い', '支払い障害'],
    ['emoji', '🔥🔥', '🔥'],
    ['the longest', 'ö'.repeat(255), 'Ö'.repeat(255)],
  ])('are found in %s', async (_, stored, asked) => {
    const other = await declare('Search is out of date');
    const { id } = await declare(stored);
    expect((await find(asked)).map(({ incident_id }) => incident_id)).toEqual([id]);
    expect((await client.get(`/api/v1/incidents/${other.id}/similar`)).body).toEqual({ similar: [] });
  });

  test('of a title without words there are none', async () => {
    await declare('!!! ???');
    expect(await find('!!! ???')).toEqual([]);
  });

  test('that are archived are left out, and an archived incident still has some', async () => {
    const [one, other] = [await declare('Queue is full'), await declare('Queue is full')];
    await client.post(`/api/v1/incidents/${one.id}/close`);
    expect((await client.post(`/api/v1/incidents/${one.id}/archive`)).status).toBe(200);
    expect((await find('Queue is full')).map(({ incident_id }) => incident_id)).toEqual([other.id]);
    expect((await client.get(`/api/v1/incidents/${one.id}/similar`)).body.similar).toHaveLength(1);
  });

  test('that are restricted change nothing for those who may not see them', async () => {
    const owner = service.as({ workspace, user_id: 1, permissions: SEES_ALL, scopes: RESTRICTED });
    const outsider = service.as({ workspace, user_id: 2, permissions: [], scopes: RESTRICTED });
    await declare('Payments fail', { service: 'payments' });
    await declare('Payments are slow');
    const before = await find('Payments fail again', 'payments', outsider);
    expect(before).toHaveLength(2);
    const secret = await declare('Payments fail again', { service: 'payments', restricted: true }, owner);
    expect(await find('Payments fail again', 'payments', outsider)).toEqual(before);
    expect((await outsider.get(`/api/v1/incidents/${secret.id}/similar`)).status).toBe(404);
    expect((await find('Payments fail again', 'payments', owner))[0]?.incident_id).toBe(secret.id);
    const { accesses } = (await owner.get(`/api/v1/incidents/${secret.id}/accesses`)).body;
    expect(accesses).toEqual([expect.objectContaining({ user_id: 1, count: 1 })]);
  });

  test('of another workspace, and those that the history limit hides, are none', async () => {
    const { id } = await declare('Disk is full', { service: 'store' });
    expect(await find('Disk is full', 'store', service.as({ workspace: { id: 1 } }))).toEqual([]);
    await service.knex.raw("update incidents set created_at = created_at - interval '40 days' where id = ?", [id]);
    expect(await find('Disk is full', 'store', service.as({ workspace: { ...workspace, history_days: 30 } }))).toEqual(
      [],
    );
    expect((await find('Disk is full', 'store')).map(({ incident_id }) => incident_id)).toEqual([id]);
  });

  test.each([
    ['', 'title'],
    ['?title=', 'title'],
    ['?title=%20', 'title'],
    ['?title=1&title=1', 'title'],
    ['?title=x&service=1&service=1', 'service'],
    [`?title=${'x'.repeat(256)}`, 'title'],
    [`?title=x&service=${'x'.repeat(129)}`, 'service'],
    ['?title=x&limit=6', 'limit'],
  ])('of %s are refused', async (query, field) => {
    const { status, body } = await client.get(`/api/v1/incidents/similar${query}`);
    expect([status, body.field]).toEqual([400, field]);
  });
});
