import assert from 'node:assert/strict';
import { compareRecords, type Context, made, previous, record, revisionHeader, succeed } from '../world.ts';

const PATH = '/api/v1/incidents';

/** The main job: an incident that refers to what the other services have just created. */
export async function checkCreate(context: Context): Promise<void> {
  const { client, label, current } = context;
  const [team, service, field] = [made(context, 'team'), made(context, 'service'), made(context, 'field')];
  const body = {
    title: `Down in ${label}`,
    service: service.slug,
    regions: ['eu-west'],
    severity: 'sev2',
    custom_field_values: [{ field_id: field.id, value: `cause ${label}` }],
  };
  const key = `incident-${label}`;
  const created = await succeed(201, 'a new incident', async () => client.post(PATH, body, { 'Idempotency-Key': key }));
  const { incident } = created.body;
  assert.equal(incident.team_id, team.id, 'the incident has the team of its service');
  record(context, `${PATH}/${incident.id}`, 'incident', created);
  current.incident = incident;
  (current.repeatable ??= []).push({ client, path: PATH, body, key, text: created.text });
  const values = await succeed(200, 'the values', async () => client.get(`${PATH}/${incident.id}/custom-fields`));
  assert.match(values.text, new RegExp(`cause ${label}`, 'u'));
}

/** A request of the combination before, repeated with its key, has the same response. */
export async function checkRepetitions(context: Context): Promise<void> {
  for (const { client, path, body, key, text } of previous(context, 'repeatable') ?? []) {
    const again = await succeed(201, `POST ${path} again`, async () =>
      client.post(path, body, { 'Idempotency-Key': key }),
    );
    assert.equal(again.headers.get('Idempotency-Replayed'), 'true', `POST ${path} again is a replay`);
    assert.equal(again.text, text, `POST ${path} again`);
  }
}

/** Changes, resolves, reopens, archives and restores the incident of the combination before. */
export async function checkIncidentChanges(context: Context): Promise<void> {
  const { client, label } = context;
  const incident = previous(context, 'incident');
  if (incident === undefined) return;
  const path = `${PATH}/${incident.id}`;
  const change = { impact_summary: `Noticed in ${label}`, status: 'monitoring' };
  await succeed(200, 'a changed incident', async () => client.patch(path, change, revisionHeader(incident.revision)));
  const event = { body: `A note of ${label}`, tags: ['a'] };
  const noted = await succeed(201, 'a new timeline event', async () =>
    client.post(`${path}/timeline`, event, { 'Idempotency-Key': `event-${label}` }),
  );
  const { id, revision = 1 } = noted.body.event;
  const place = `/api/v1/timeline/${id}`;
  const rename = async () => client.patch(place, { title: label }, revisionHeader(revision));
  record(context, place, 'event', await succeed(200, 'a changed timeline event', rename));
  await succeed(200, 'a resolved incident', async () =>
    client.post(`${path}/resolve`, { resolution_note: `By ${label}` }),
  );
  await succeed(200, 'a reopened incident', async () => client.post(`${path}/reopen`, {}));
  await succeed(200, 'an archived incident', async () => client.post(`${path}/archive`, {}));
  const restored = await succeed(200, 'a restored incident', async () => client.post(`${path}/restore`, {}));
  record(context, path, 'incident', restored);

  const changelog = await succeed(200, 'the changelog', async () => client.get(`${path}/changelog?limit=100`));
  assert.match(changelog.text, new RegExp(`Noticed in ${label}`, 'u'));
  const timeline = await succeed(200, 'the timeline', async () => client.get(`${path}/timeline?limit=100`));
  for (const text of [`A note of ${label}`, `By ${label}`]) assert.match(timeline.text, new RegExp(text, 'u'));
}

export async function checkIncidentReads(context: Context): Promise<void> {
  await compareRecords(context, `${PATH}/`);
  await compareRecords(context, '/api/v1/timeline/');
  const { human_id: reference, id } = made(context, 'incident');
  const byReference = await succeed(200, 'the incident by its reference', async () =>
    context.client.get(`/api/v1/incident-references/${reference}`),
  );
  assert.equal(byReference.body.incident.id, id);
}

interface Page {
  incidents: { id: number }[];
  pagination: { next_cursor?: string };
}

const idsOf = ({ incidents }: Page) => incidents.map(({ id }) => id);

/** Filters, counts, a sort by a custom field, and a cursor that the combination before was given. */
export async function checkLists(context: Context): Promise<void> {
  const { client, label, current } = context;
  const { id } = made(context, 'incident');
  const { slug } = made(context, 'field');
  const list = async (what: string, query: Record<string, string>): Promise<Page> =>
    (await succeed(200, what, async () => client.get(`${PATH}?${new URLSearchParams(query).toString()}`))).body as Page;

  assert.deepEqual(idsOf(await list('a list by service', { service: made(context, 'service').slug })), [id]);
  const filter = JSON.stringify({ slug, operator: 'is', value: `cause ${label}` });
  assert.deepEqual(idsOf(await list('a list by a custom field', { custom_filter: filter })), [id]);
  const part = JSON.stringify({ slug, operator: 'contains', value: `ause ${label}` });
  assert.deepEqual(idsOf(await list('a search', { custom_filter: part, include_counts: 'true' })), [id]);
  const sorted = await list('a list sorted by a custom field', { sort: 'custom', sort_custom_field: slug, limit: '1' });
  assert.deepEqual(idsOf(sorted), [id]);

  const everything = idsOf(await list('all incidents', { limit: '100' }));
  const known = [...context.world.records.keys()].filter((path) => path.startsWith(`${PATH}/`));
  for (const path of known)
    assert.ok(everything.includes(Number(path.slice(PATH.length + 1))), `the list lacks ${path}`);

  // Sorted from the oldest: what is created later changes nothing before the cursor's position.
  const query = { sort: 'created_at', direction: 'asc', limit: '1' };
  const first = await list('the first page', query);
  const cursor = previous(context, 'cursor');
  if (cursor !== undefined) {
    const second = await list('the page of an earlier cursor', { ...query, cursor });
    const own = await list('the page of an own cursor', { ...query, cursor: first.pagination.next_cursor ?? '' });
    assert.deepEqual(idsOf(second), idsOf(own), 'the page of an earlier cursor');
  }
  const next = first.pagination.next_cursor;
  if (next !== undefined) current.cursor = next;
}
