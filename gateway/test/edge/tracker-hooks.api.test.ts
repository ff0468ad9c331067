import { text } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import type { TrackerHook } from '@tocsin/schemas';

import { openers } from '../gateway-harness.ts';

const { open, openService } = openers();
const PATH = '/hooks/trackers/7';
const SIGNED = { 'X-Hub-Signature-256': 'sha256=ab', 'Content-Type': 'application/json', Cookie: 'a=b' };

/** The incident service, which knows one signature. */
async function openVerifier() {
  const hooks: TrackerHook[] = [];
  const service = await openService((request, response) => {
    void text(request).then((body) => {
      const hook = JSON.parse(body) as TrackerHook;
      hooks.push(hook);
      const isVerified = hook.headers['x-hub-signature-256'] === 'sha256=ab' && hook.tracker_id === 7;
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ is_verified: isVerified }));
    });
  });
  return { service, hooks };
}

test('a webhook of a tracker needs no token, and is forwarded byte by byte', async () => {
  const { service, hooks } = await openVerifier();
  const gateway = await open({ incidentUrl: service.url });
  const body = { issue: { number: 1 }, text: 'ä' };
  expect((await gateway.send({ method: 'POST', path: PATH, headers: SIGNED, body })).status).toBe(202);
  expect(hooks).toEqual([
    {
      ...{ workspace_id: expect.any(Number), tracker_id: 7, headers: { 'x-hub-signature-256': 'sha256=ab' } },
      body: Buffer.from(JSON.stringify(body)).toString('base64'),
    },
  ]);
});

test('whatever is not signed is refused alike, whether or not there is the tracker', async () => {
  const { service } = await openVerifier();
  const gateway = await open({ incidentUrl: service.url });
  const send = async (path: string, headers: Record<string, string>, body: unknown = {}) => {
    const { status, body: answer } = await gateway.send({ method: 'POST', path, headers, body });
    return { status, answer: { ...answer, request_id: '' } };
  };
  const refused = await send(PATH, { ...SIGNED, 'X-Hub-Signature-256': 'sha256=cd' });
  expect(refused).toMatchObject({ status: 401, answer: { code: 'authentication_required' } });
  expect(await send('/hooks/trackers/8', SIGNED)).toEqual(refused);
  expect(await send(PATH, {})).toEqual(refused);
  const large = await send(PATH, { ...SIGNED, 'X-Hub-Signature-256': 'x' }, { text: 'x'.repeat(600_000) });
  expect(large).toEqual(refused);
  expect(await gateway.send({ path: PATH })).toMatchObject({ status: 405, headers: { allow: 'POST' } });
  expect((await gateway.send({ method: 'POST', path: PATH, host: 'other.localhost' })).status).toBe(404);
});

test('its address has a limit', async () => {
  const { service, hooks } = await openVerifier();
  const gateway = await open({ incidentUrl: service.url, env: { ANONYMOUS_RATE_LIMIT_PER_MINUTE: '2' } });
  const statuses: number[] = [];
  for (let nth = 0; nth < 4; nth += 1)
    statuses.push((await gateway.send({ method: 'POST', path: PATH, headers: SIGNED, body: {} })).status);
  expect([statuses, hooks.length]).toEqual([[202, 202, 429, 429], 2]);
});

test('is asked for again while the incident service does not answer', async () => {
  const gateway = await open({ incidentUrl: 'http://127.0.0.1:9' });
  expect((await gateway.send({ method: 'POST', path: PATH, headers: SIGNED, body: {} })).status).toBe(503);
});
