import { expect, test } from '@jest/globals';
import { readable } from '../local/log-lines.ts';

test('a structured line is put into words', () => {
  const line = JSON.stringify({
    level: 'info',
    time: '2026-11-20T12:30:01.250Z',
    app: 'incident',
    method: 'GET',
    status: 200,
    msg: 'request',
  });
  expect(readable('incident', line)).toBe('12:30:01  info   incident      request  method=GET  status=200');
});

test('of an error there is its message', () => {
  const line = JSON.stringify({
    level: 'error',
    time: '2026-11-20T12:30:01.250Z',
    err: { message: 'gone', stack: '…' },
    msg: 'lost',
  });
  expect(readable('custom-field', line)).toBe('12:30:01  error  custom-field  lost  error=gone');
});

test.each(['', 'no JSON', '7', 'null', '"text"', '{"other":1}'])('anything else stays as it is: %j', (line) => {
  expect(readable('webhook', line)).toBe(`webhook       ${line}`);
});
