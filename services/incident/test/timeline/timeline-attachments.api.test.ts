import { expect, test } from '@jest/globals';
import { addMilliseconds, openKeyring } from '@tocsin/runtime';
import { TEST_SECRET_KEYS } from '@tocsin/testing';
import { serviceForFile, type TestService } from '../service.ts';
import { recordAnything } from './timeline.ts';

const now = '2026-11-20T12:00:00.000Z';
const clock = { now: () => now };
const withStore = await serviceForFile({ clock }, { ATTACHMENT_BASE_URL: 'https://files.example.test/tocsin/' });
const without = await serviceForFile({ clock });

async function eventWithAttachments(service: TestService) {
  const { knex: database } = service;
  const { body } = await service.as().post('/api/v1/incidents', { title: 'x' });
  const id = await recordAnything(database, body.incident.id, {
    body: 'Seen in the logs',
    source: 'ai',
    commentCount: 3,
    sourceRef: 'run-1',
    sourceWindowStartedAt: '2026-11-20T08:00:00.000Z',
    sourceWindowEndedAt: '2026-11-20T09:00:00.000Z',
    evidenceLinks: [{ source: 'logs', url: 'https://logs.example.test/1', result_bytes: 12, truncated: false }],
  });
  await recordAnything(database, body.incident.id, { body: 'Another event' });
  const { workspace_id } = await database('timeline_events').where({ id }).first('workspace_id');
  const file = {
    ...{ workspace_id, timeline_event_id: id },
    ...{ content_type: 'image/png', size_bytes: 5, created_at: now, created_by: '42' },
  };
  await database('timeline_attachments').insert([
    { ...file, filename: 'a.png', storage_key: '1/ä b.png' },
    { ...file, filename: 'gone.png', storage_key: null },
  ]);
  const timeline = await service.as().get(`/api/v1/incidents/${body.incident.id}/timeline`);
  const alone = await service.as().get(`/api/v1/timeline/${id}`);
  expect(timeline.body.events[0]).toEqual(alone.body.event);
  expect(timeline.body.events[1].attachments).toEqual([]);
  return alone.body.event;
}

test('the data that other systems add to an event is shown', async () => {
  expect(await eventWithAttachments(without)).toMatchObject({
    comment_count: 3,
    source: 'ai',
    source_ref: 'run-1',
    source_window_started_at: '2026-11-20T08:00:00.000Z',
    source_window_ended_at: '2026-11-20T09:00:00.000Z',
    evidence_links: [{ source: 'logs', url: 'https://logs.example.test/1', result_bytes: 12, truncated: false }],
  });
});

test('attachments have signed URLs that are valid for 15 minutes', async () => {
  const { attachments } = await eventWithAttachments(withStore);
  const [there, gone] = attachments;
  const expires = Date.parse(addMilliseconds(now, 900_000)) / 1_000;
  const signature = openKeyring(TEST_SECRET_KEYS, 'attachment-url').sign(`1/%C3%A4%20b.png\n${expires}`);
  expect(there).toMatchObject({
    filename: 'a.png',
    content_type: 'image/png',
    size_bytes: 5,
    created_at: now,
    created_by: '42',
    url: `https://files.example.test/tocsin/1/%C3%A4%20b.png?expires=${expires}&signature=${signature.toString('base64url')}`,
    url_available: true,
  });
  expect(gone).toMatchObject({ filename: 'gone.png', url: '', url_available: false });
});

test('attachments have no URLs without a configured file store', async () => {
  const { attachments } = await eventWithAttachments(without);
  expect(attachments).toMatchObject([
    { filename: 'a.png', url: '', url_available: false },
    { filename: 'gone.png', url: '', url_available: false },
  ]);
});
