import { expect, test } from '@jest/globals';
import type { IncomingMessage } from 'node:http';
import { createLogger } from '@tocsin/runtime';
import { toDomainError } from '../../src/api/to-domain-error.ts';
import { errorBody, notFound, serviceUnavailable } from '../../src/errors/errors.ts';

const logged: string[] = [];
const log = createLogger({
  app: 'test',
  level: 'info',
  destination: { write: (line: string) => void logged.push(line) },
});
const request = { method: 'GET', url: '/things', headers: { 'x-request-id': 'one' } } as unknown as IncomingMessage;

test('what an error of the API stands for is logged once, with the request ID, and not sent', () => {
  const error = toDomainError(
    serviceUnavailable('Try again', { cause: new Error('connect ECONNREFUSED') }),
    request,
    log,
  );
  expect(errorBody(error, 'one')).toEqual({ code: 'service_unavailable', message: 'Try again', request_id: 'one' });
  expect(logged.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({
      request_id: 'one',
      code: 'service_unavailable',
      err: expect.objectContaining({ message: 'connect ECONNREFUSED' }),
    }),
  ]);
  logged.length = 0;
  toDomainError(notFound('The thing'), request, log);
  expect(logged).toEqual([]);
});
