import { expect, test } from '@jest/globals';
import { formatLine } from '../processes/log-lines.ts';

test('formats a structured line', () => {
  const line = JSON.stringify({
    level: 'info',
    time: '2026-11-20T12:30:01.250Z',
    app: 'incident',
    method: 'GET',
    status: 200,
    msg: 'request',
  });
  expect(formatLine('incident', line)).toBe('12:30:01  info   incident      request  method=GET  status=200');
});

test('shows the message of an error', () => {
  const line = JSON.stringify({
    level: 'error',
    time: '2026-11-20T12:30:01.250Z',
    err: { message: 'gone', stack: '…' },
    msg: 'lost',
  });
  expect(formatLine('custom-field', line)).toBe('12:30:01  error  custom-field  lost  error=gone');
});

test.each(['', 'no JSON', '7', 'null', '"text"', '{"other":1}'])('does not change other lines: %j', (line) => {
  expect(formatLine('webhook', line)).toBe(`webhook       ${line}`);
});
