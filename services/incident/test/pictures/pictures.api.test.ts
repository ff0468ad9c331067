import { describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { eventually, refusal, testClock } from '@tocsin/testing';
import { serviceForFile } from '../service.ts';
import { aPng, manyFrames, plain, upload } from './pictures.ts';

const MEBIBYTE = 1_048_576;
const HOUR = 3_600_000;
const clock = testClock('2026-11-24T10:00:00.000Z');
const service = await serviceForFile({ clock, taskInterval: 100 });
const { knex: database } = service;
const client = service.as();
const png = await aPng();

const declare = async (body: object = {}, by = client): Promise<number> =>
  (await by.post('/api/v1/incidents', { title: 'Checkout is slow', ...body })).body.incident.id;
const uploaded = async (incidentId: number): Promise<number> => {
  const { status, body } = await upload(client, incidentId, png);
  expect(status).toBe(201);
  return body.picture.id;
};
const write = async (incidentId: number, body: object) =>
  client.post(`/api/v1/incidents/${incidentId}/timeline`, { body: 'See the graph', ...body });
const edit = async (id: number, body: object) => {
  const { headers } = await client.get(`/api/v1/timeline/${id}`);
  const revision = String(headers.get('Service-Resource-Version'));
  return client.patch(`/api/v1/timeline/${id}`, body, { 'If-Service-Resource-Version': revision });
};
const fileOf = async (id: number, query = '') => client.get(`/api/v1/pictures/${id}${query}`);

describe('an uploaded picture', () => {
  test('comes back as what it is, with headers under which no browser runs it, and as a thumbnail', async () => {
    const incidentId = await declare();
    const { status, body } = await upload(client, incidentId, png, {
      query: `?filename=${encodeURIComponent('لوحة 🔥.png')}`,
      headers: { 'Content-Type': 'image/jpeg' },
    });
    expect(status).toBe(201);
    const { id } = body.picture;
    expect(body.picture).toEqual({
      ...{ id, incident_id: incidentId, filename: 'لوحة 🔥.png', content_type: 'image/png' },
      ...{ size_bytes: expect.any(Number), width: 600, height: 400 },
      ...{ url: `/api/v1/pictures/${id}`, thumbnail_url: `/api/v1/pictures/${id}?size=thumbnail` },
      ...{ created_at: clock.now(), created_by: '42' },
    });
    const full = await fileOf(id);
    expect(full.bytes).toHaveLength(body.picture.size_bytes);
    expect(Object.fromEntries(full.headers)).toMatchObject({
      ...{ 'content-type': 'image/png', 'x-content-type-options': 'nosniff' },
      'content-security-policy': "sandbox; default-src 'none'",
      ...{ 'cache-control': 'private, max-age=300', vary: 'Authorization, Cookie' },
    });
    const thumbnail = await fileOf(id, '?size=thumbnail');
    expect(await sharp(thumbnail.bytes).metadata()).toMatchObject({ format: 'webp', width: 480, height: 320 });
    const etag = String(full.headers.get('etag'));
    expect(etag).not.toBe(thumbnail.headers.get('etag'));
    const again = await client.get(`/api/v1/pictures/${id}`, { 'If-None-Match': etag });
    expect([again.status, again.bytes.length]).toEqual([304, 0]);
  });

  test.each(['png', 'jpeg', 'webp', 'gif'] as const)('may be %s', async (format) => {
    const { body } = await upload(client, await declare(), await plain().toFormat(format).toBuffer());
    expect(body.picture.content_type).toBe(`image/${format}`);
    expect(body.picture.filename).toBe(`picture.${format}`);
    expect((await sharp((await fileOf(body.picture.id)).bytes).metadata()).format).toBe(format);
  });

  test('has neither place nor device, and is turned as it was shown', async () => {
    const photo = await plain()
      .jpeg()
      .withExif({ IFD0: { Make: 'Telephone', Orientation: '6' }, IFD3: { GPSLatitude: '51/1 30/1 0/1' } })
      .withXmp('<x:xmpmeta xmlns:x="adobe:ns:meta/"><secret/></x:xmpmeta>')
      .toBuffer();
    expect(photo.toString('latin1')).toContain('Telephone');
    const { body } = await upload(client, await declare(), photo);
    const metadata = await sharp((await fileOf(body.picture.id)).bytes).metadata();
    expect(metadata).not.toHaveProperty('exif');
    expect(metadata).not.toHaveProperty('xmp');
    expect(metadata).not.toHaveProperty('orientation');
  });

  test('keeps its frames, and loses what is behind them', async () => {
    const frames = await Promise.all(
      ['red', 'green', 'blue'].map(async (background) => plain({ background }).png().toBuffer()),
    );
    const animation = await sharp(frames, { join: { animated: true } })
      .gif({ delay: [100, 200, 300] })
      .toBuffer();
    const { body } = await upload(
      client,
      await declare(),
      Buffer.concat([animation, Buffer.from('<script>alert(1)</script>')]),
    );
    expect(body.picture).toMatchObject({ width: 600, height: 400 });
    const { bytes } = await fileOf(body.picture.id);
    expect(bytes.includes('script')).toBe(false);
    expect(await sharp(bytes, { animated: true }).metadata()).toMatchObject({ pages: 3, delay: [100, 200, 300] });
  });

  test('may have 40 million pixels, and at most 50 of all frames together', async () => {
    const incidentId = await declare();
    const large = await plain({ width: 8_000, height: 5_000 }).png().toBuffer();
    expect((await upload(client, incidentId, large)).body.picture).toMatchObject({ width: 8_000, height: 5_000 });
    const bomb = await plain({ width: 8_000, height: 6_300 }).png().toBuffer();
    expect(bomb.length).toBeLessThan(MEBIBYTE);
    const animation = manyFrames({ width: 100, height: 60, count: 10_000 });
    expect(animation.length).toBeLessThan(MEBIBYTE);
    for (const bytes of [bomb, animation])
      expect(await upload(client, incidentId, bytes)).toMatchObject(
        refusal(400, 'invalid_request', { field: 'body', message: 'Has more than 50 million pixels' }),
      );
  });

  test.each([
    [
      'an SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
      'Is not a PNG, JPEG, WebP or GIF picture',
    ],
    ['a script', Buffer.from('GIF89a/*\0\0*/=1;alert(1)//'), 'Is damaged, or not a picture of its format'],
    ['half of a picture', png.subarray(0, png.length / 2), 'Is damaged, or not a picture of its format'],
    ['nothing', Buffer.alloc(0), 'Is required'],
  ])('must not be %s', async (_, bytes, message) => {
    expect(await upload(client, await declare(), bytes)).toMatchObject(
      refusal(400, 'invalid_request', { field: 'body', message }),
    );
  });

  test('is refused by its size and its media type', async () => {
    const incidentId = await declare();
    expect(await upload(client, incidentId, Buffer.alloc(5 * MEBIBYTE + 1))).toMatchObject(
      refusal(413, 'request_body_too_large', { message: 'The body must be at most 5242880 bytes' }),
    );
    for (const headers of [{ 'Content-Type': 'application/json' }, { 'Content-Encoding': 'gzip' }])
      expect(await upload(client, incidentId, png, { headers })).toMatchObject(
        refusal(415, 'unsupported_media_type', { field: Object.keys(headers)[0] }),
      );
    expect(await upload(client, incidentId, png, { query: `?filename=${'x'.repeat(256)}` })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'filename' }),
    );
  });

  test('is one for one Idempotency-Key, and none if it is only validated', async () => {
    const incidentId = await declare();
    const headers = { 'Idempotency-Key': 'graph' };
    const [first, second] = [
      await upload(client, incidentId, png, { headers }),
      await upload(client, incidentId, png, { headers }),
    ];
    expect(second.body).toEqual(first.body);
    expect(second.headers.get('Idempotency-Replayed')).toBe('true');
    const validated = await upload(client, incidentId, png, { query: '?validate_only=true' });
    expect(validated.body.picture).toMatchObject({ id: null, url: null, thumbnail_url: null, width: 600 });
    expect(await database('pictures').where({ incident_id: incidentId })).toHaveLength(1);
  });

  test('is refused as the 51st of its incident, and for an archived incident', async () => {
    const incidentId = await declare();
    const id = await uploaded(incidentId);
    await database.raw(
      `insert into pictures (workspace_id, id, incident_id, unused_since, filename, content_type, size_bytes, width, height,
         content, thumbnail, created_at, created_by)
       select workspace_id, nextval('timeline_attachments_id_seq'), incident_id, unused_since, filename, content_type,
         size_bytes, width, height, content, thumbnail, created_at, created_by
       from pictures, generate_series(1, 49) where id = ?`,
      [id],
    );
    expect(await upload(client, incidentId, png)).toMatchObject(refusal(409, 'invalid_resource_state'));
    const archived = await declare();
    await client.post(`/api/v1/incidents/${archived}/archive`);
    expect(await upload(client, archived, png)).toMatchObject(refusal(409, 'invalid_resource_state'));
  });
});

describe('an event', () => {
  test('has the pictures that it names, which replace the earlier ones', async () => {
    const incidentId = await declare();
    const [first, second] = [await uploaded(incidentId), await uploaded(incidentId)];
    const created = await write(incidentId, { attachments: [first] });
    expect(created.status).toBe(201);
    const { id } = created.body.event;
    const attachment = {
      ...{ id: first, timeline_event_id: id, url: `/api/v1/pictures/${first}`, url_available: true },
      thumbnail_url: `/api/v1/pictures/${first}?size=thumbnail`,
    };
    expect(created.body.event.attachments).toMatchObject([attachment]);
    expect((await client.get(`/api/v1/timeline/${id}`)).body).toEqual(created.body);

    const edited = await edit(id, { attachments: [second] });
    expect(edited.body.event).toMatchObject({ revision: 2, attachments: [{ id: second }] });
    expect((await client.get(`/api/v1/timeline/${id}`)).body).toEqual(edited.body);
    expect((await edit(id, { attachments: [second] })).body.event.revision).toBe(2);
    expect((await edit(id, { title: 'Graph' })).body.event).toMatchObject({
      revision: 3,
      attachments: [{ id: second }],
    });
    const former = await client.get(`/api/v1/timeline/${id}/revisions`);
    expect(former.body.former).toMatchObject([{ attachments: [{ id: second }] }, { attachments: [{ id: first }] }]);
    const changelog = await client.get(`/api/v1/incidents/${incidentId}/changelog`);
    expect(JSON.stringify(changelog.body.changelog)).toContain(`timeline_events.${id}`);
    // The first one is free again.
    expect((await write(incidentId, { attachments: [first] })).status).toBe(201);
    expect((await edit(id, { attachments: [] })).body.event.attachments).toEqual([]);
  });

  test('cannot have a picture of another incident, workspace or event, or one that is not there', async () => {
    const incidentId = await declare();
    const used = await uploaded(incidentId);
    await write(incidentId, { attachments: [used] });
    const stranger = service.as({ workspace: { id: 2, slug: 'other' } });
    const elsewhere = await upload(stranger, await declare({}, stranger), png);
    const others = [used, await uploaded(await declare()), elsewhere.body.picture.id, 999_999];
    const free = await uploaded(incidentId);
    const event = (await write(incidentId, {})).body.event.id;
    for (const id of others) {
      for (const answer of [
        await write(incidentId, { attachments: [free, id] }),
        await edit(event, { attachments: [free, id] }),
      ])
        expect(answer).toMatchObject(refusal(400, 'invalid_request', { field: 'attachments' }));
    }
    expect((await fileOf(elsewhere.body.picture.id)).status).toBe(404);
    expect(await write(incidentId, { attachments: [free, free] })).toMatchObject(
      refusal(400, 'invalid_request', { field: 'attachments' }),
    );
  });

  test('that is deleted takes its pictures along, and brings them back', async () => {
    const incidentId = await declare();
    const picture = await uploaded(incidentId);
    const { id } = (await write(incidentId, { attachments: [picture] })).body.event;
    await client.delete(`/api/v1/timeline/${id}`);
    expect((await fileOf(picture)).status).toBe(404);
    clock.advance(25 * HOUR);
    const restored = await client.post(`/api/v1/timeline/${id}/restore`);
    expect(restored.body.event.attachments).toMatchObject([{ id: picture, url_available: true }]);
    expect((await fileOf(picture)).status).toBe(200);
  });

  test('keeps its pictures, and others are deleted after a day', async () => {
    const incidentId = await declare();
    const [used, unused, removed] = [
      await uploaded(incidentId),
      await uploaded(incidentId),
      await uploaded(incidentId),
    ];
    await write(incidentId, { attachments: [used] });
    const { id } = (await write(incidentId, { attachments: [removed] })).body.event;
    clock.advance(12 * HOUR);
    await edit(id, { attachments: [] });
    clock.advance(12 * HOUR + 1);
    const statusOf = async (picture: number) => (await fileOf(picture)).status;
    await eventually(async () => (await statusOf(unused)) === 404);
    expect([await statusOf(used), await statusOf(removed)]).toEqual([200, 200]);
    clock.advance(12 * HOUR);
    await eventually(async () => (await statusOf(removed)) === 404);
    expect(await statusOf(used)).toBe(200);
  });
});

test('pictures of a restricted incident are for those who may see it', async () => {
  const declarer = service.as({ user_id: 50, permissions: [] });
  const outsider = service.as({ user_id: 51, permissions: [] });
  const incidentId = await declare({ restricted: true }, declarer);
  const { id } = (await upload(declarer, incidentId, png)).body.picture;
  expect((await declarer.get(`/api/v1/pictures/${id}`)).status).toBe(200);
  expect((await outsider.get(`/api/v1/pictures/${id}`)).status).toBe(404);
  expect((await upload(outsider, incidentId, png)).status).toBe(404);
  const accesses = await client.get(`/api/v1/incidents/${incidentId}/accesses`);
  expect(accesses.body.accesses).toMatchObject([{ user_id: 50 }]);
});

test('the pictures of an incident are deleted with it, and so is the response to their upload', async () => {
  const incidentId = await declare();
  const headers = { 'Idempotency-Key': 'deleted' };
  const { id } = (await upload(client, incidentId, png, { headers })).body.picture;
  const { human_id: confirmation } = (await client.get(`/api/v1/incidents/${incidentId}`)).body.incident;
  expect(
    (await client.post(`/api/v1/incidents/${incidentId}/delete`, { confirmation, reason: 'Test' })).status,
  ).toBeLessThan(300);
  expect(await database('pictures').where({ id })).toEqual([]);
  expect((await upload(client, incidentId, png, { headers })).status).toBe(404);
});
