import { expect, test } from '@jest/globals';
import { INTERNAL_PATHS, unmanagedReferences } from '@tocsin/schemas';
import { asService, httpClient } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';
import { aService } from '../snapshots.ts';

const service = await serviceForFile();

const ask = async (workspaceId: number) => {
  const client = httpClient(service.app.url, asService('catalog', 'incident'));
  const { status, body } = await client.get(`${INTERNAL_PATHS.unmanagedReferences}?workspace_id=${workspaceId}`);
  expect(status).toBe(200);
  return unmanagedReferences.parse(body);
};

const declare = async (workspaceId: number, ...services: (string | undefined)[]) => {
  const client = service.as({ workspace: { id: workspaceId, slug: `w${workspaceId}` } });
  const ids: number[] = [];
  for (const slug of services) {
    const { body } = await client.post('/api/v1/incidents', {
      title: 'x',
      ...(slug !== undefined && { service: slug }),
    });
    ids.push(body.incident.id);
  }
  return { ids, client };
};

test('counts references without a matching slug, the most frequent first', async () => {
  await service.owners.change(1, ({ services }) => {
    services.push(
      aService(1, { slug: 'checkout' }),
      aService(2, { slug: 'legacy', archived_at: '2026-01-01T00:00:00.000Z' }),
    );
    services.push(aService(3, { slug: 'café'.normalize('NFC') }));
  });
  const named = [
    'search',
    'checkout',
    'Checkout',
    'legacy',
    '',
    undefined,
    'búsqueda',
    'search',
    'café'.normalize('NFD'),
    'billing',
  ];
  const { ids, client } = await declare(1, ...named, 'gone');
  await client.post(`/api/v1/incidents/${ids.at(-1)}/archive`);
  await declare(2, 'elsewhere');
  expect(await ask(1)).toEqual({
    references: [
      { value: 'search', incident_count: 2 },
      { value: 'Checkout', incident_count: 1 },
      { value: 'billing', incident_count: 1 },
      { value: 'búsqueda', incident_count: 1 },
    ],
    truncated: false,
  });
  expect(await ask(3)).toEqual({ references: [], truncated: false });
});

test('a new service counts at once', async () => {
  await declare(4, 'fresh');
  expect((await ask(4)).references).toHaveLength(1);
  await service.owners.change(4, ({ services }) => void services.push(aService(40, { slug: 'fresh' })));
  expect((await ask(4)).references).toEqual([]);
});

test('an unavailable catalog leaves the replica as it is', async () => {
  await declare(5, 'search');
  service.owners.down = true;
  expect((await ask(5)).references).toEqual([{ value: 'search', incident_count: 1 }]);
  service.owners.down = false;
});

test('at most a hundred are returned, and truncation is reported', async () => {
  const values = Array.from({ length: 101 }, (_, index) => `service-${String(index).padStart(3, '0')}`);
  await declare(6, ...values.slice(0, 100));
  const full = await ask(6);
  expect(full.truncated).toBe(false);
  expect(full.references.map(({ value }) => value)).toEqual(values.slice(0, 100));
  await declare(6, values[100]);
  const cut = await ask(6);
  expect(cut.truncated).toBe(true);
  expect(cut.references).toHaveLength(100);
});

test('frequent values are in the order of their counts', async () => {
  const numbers = { 'five thousand': 5_000, 'one thousand': 1_000, two: 2, 'the next': 1_001 };
  await declare(9, ...Object.keys(numbers));
  const { knex: database } = service;
  for (const [value, incidents] of Object.entries(numbers))
    await database('service_references').where({ workspace_id: 9, value }).update({ incidents });
  await declare(9, 'one thousand');
  expect(await ask(9)).toEqual({
    references: [
      { value: 'five thousand', incident_count: 5_000 },
      { value: 'one thousand', incident_count: 1_001 },
      { value: 'the next', incident_count: 1_001 },
      { value: 'two', incident_count: 2 },
    ],
    truncated: false,
  });
});

test('changes at the same time are counted, whatever values they leave and reach', async () => {
  const values = ['alpha', 'beta', 'gamma', 'café', '', '\u{1F525}', '\uFF21'];
  const { ids, client } = await declare(7, ...values, 'alpha', 'beta');
  const move = async (id: number, step: number) => {
    const path = `/api/v1/incidents/${id}`;
    const { revision } = (await client.get(path)).body.incident;
    const answer =
      step % 3 === 2
        ? await client.post(`${path}/archive`)
        : await client.patch(
            path,
            { service: values[(id * (step + 1)) % values.length] },
            { 'If-Service-Resource-Version': String(revision) },
          );
    expect(answer.status).toBe(200);
    if (step % 3 === 2 && id % 2 === 0) expect((await client.post(`${path}/restore`)).status).toBe(200);
    return step % 3 !== 2 || id % 2 === 0;
  };
  await Promise.all([
    ...ids.map(async (id) => {
      for (let step = 0; step < 6; step += 1) if (!(await move(id, step))) return;
    }),
    declare(7, 'alpha', 'alpha', 'beta'),
    declare(7, 'beta', 'alpha'),
  ]);
  const { body } = await client.get('/api/v1/incidents?limit=100');
  const counts = new Map<string, number>();
  for (const { service: value } of body.incidents as { service: string }[])
    if (value !== '') counts.set(value, (counts.get(value) ?? 0) + 1);
  const bytes = (value: string) => Buffer.from(value);
  const references = Array.from(counts, ([value, incident_count]) => ({ value, incident_count })).sort(
    (a, b) => b.incident_count - a.incident_count || Buffer.compare(bytes(a.value), bytes(b.value)),
  );
  expect(await ask(7)).toEqual({ references, truncated: false });
});
