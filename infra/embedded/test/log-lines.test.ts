import { expect, test } from '@jest/globals';
import { formatLine } from '../log-lines.ts';

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

test('shows each entry in one line, and nothing in it that commands a terminal', () => {
  const line = JSON.stringify({
    level: 'warn',
    time: '2026-11-20T12:30:01.250Z',
    msg: 'a\nb',
    path: '/\u001b[31m\u202e',
  });
  expect(formatLine('webhook', line)).toBe('12:30:01  warn   webhook       a\\u{a}b  path=/\\u{1b}[31m\\u{202e}');
  expect(formatLine('webhook', 'two\rlines \u001b[1mbold')).toBe('webhook       two\\u{d}lines bold');
});

test('has colours where they are wanted', () => {
  const line = JSON.stringify({ level: 'error', time: '2026-11-20T12:30:01.250Z', status: 500, msg: 'request' });
  const paint = (style: unknown, text: string) => `<${String(style)}>${text}</>`;
  expect(formatLine('webhook', line, paint)).toBe(
    '<dim>12:30:01</>  <red>error</>  <cyan>webhook     </>  <red>request</>  <dim>status=</>500',
  );
});

test.each(['', 'no JSON', '7', 'null', '"text"', '{"other":1}'])('does not change other lines: %j', (line) => {
  expect(formatLine('webhook', line)).toBe(`webhook       ${line}`);
});
