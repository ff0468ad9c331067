import { expect } from '@jest/globals';
import type { Answer, Client } from '@tocsin/testing';
import { type Request, send } from './operations.ts';

/** A create with an Idempotency-Key, and the response of its first request. */
export interface Keyed {
  request: Request;
  answer: Answer;
}

const AT_ONCE = 10;

const withKey = (request: Request): Request => ({
  ...request,
  headers: { ...request.headers, 'Idempotency-Key': `once-${request.operation}` },
});
const isReplay = ({ headers }: Answer) => headers.get('Idempotency-Replayed') === 'true';
const shown = ({ status, text, headers }: Answer) => [status, text, headers.get('Service-Resource-Version')];

/** Sends a create with a key several times at once, again, and with other bytes. Returns the one response. */
export async function sendOnce(client: Client, request: Request): Promise<Answer> {
  const { operation, body } = request;
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, async () => send(client, withKey(request))));
  const [first, ...others] = answers.filter((answer) => answer.status < 300 && !isReplay(answer));
  if (first === undefined) return answers[0] as Answer;
  expect([operation, others]).toEqual([operation, []]);
  for (const answer of answers) {
    if (answer.status < 300) expect(shown(answer)).toEqual(shown(first));
    else
      expect([answer.status, answer.body.code, answer.headers.get('Retry-After')]).toEqual([
        409,
        'idempotency_in_progress',
        '1',
      ]);
  }
  await expectReplay(client, { request, answer: first });
  const reused = await send(client, { ...withKey(request), body: `${JSON.stringify(body)} ` });
  expect([operation, reused.status, reused.body]).toMatchObject([
    ...[operation, 409, { code: 'idempotency_key_reused', field: 'Idempotency-Key' }],
  ]);
  return first;
}

export async function expectReplay(client: Client, { request, answer }: Keyed): Promise<void> {
  const replay = await send(client, withKey(request));
  expect([request.operation, ...shown(replay), isReplay(replay)]).toEqual([request.operation, ...shown(answer), true]);
}
