import { expect, test } from '@jest/globals';
import { createLogger } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { openers } from '../gateway-harness.ts';

const { open: openGateway } = openers();

test('each request has one log line with its caller and duration, but without token, query and body', async () => {
  const lines: string[] = [];
  const log = createLogger({ app: 'gateway', level: 'info', destination: { write: (line) => void lines.push(line) } });
  const gateway = await openGateway({ overrides: { log } });
  const token = await gateway.token();
  lines.length = 0;
  const headers = { 'X-Request-ID': 'logged-1' };
  await gateway.send({
    method: 'POST',
    path: '/api/v1/incidents?q=secret-query',
    body: { title: 'secret-body' },
    token,
    headers,
  });
  await gateway.send({ path: '/api/v1/nowhere', token: `${token}x` });
  const requests = await eventually(() => {
    const requestLines = lines
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ msg }) => msg === 'request');
    return requestLines.length === 2 && requestLines;
  });
  expect(requests[0]).toMatchObject({
    app: 'gateway',
    level: 'info',
    method: 'POST',
    path: '/api/v1/incidents',
    status: 400,
    duration_ms: expect.any(Number),
    workspace: 'acme',
    key_id: expect.any(Number),
    request_id: 'logged-1',
  });
  expect(requests[1]).toMatchObject({ path: '/api/v1/nowhere', status: 401, workspace: 'acme' });
  expect(requests[1]).not.toHaveProperty('key_id');
  expect(lines.join('')).not.toMatch(/tcs_|secret-/);
});
