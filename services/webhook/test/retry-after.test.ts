import { expect, test } from '@jest/globals';
import { readRetryAfter } from '../src/queue/domain/retry-after.ts';

const NOW = '2026-11-20T09:30:00.000Z';

test.each([
  ['1', 1_000],
  ['007', 7_000],
  ['Friday, 20-Nov-26 09:31:00 GMT', 60_000],
  ['Fri Nov 20 10:30:00 2026', 3_600_000],
  ['Wed Dec  2 09:30:00 2026', 12 * 86_400_000],
  ['Friday, 20-Nov-76 09:30:00 GMT', Date.UTC(2076, 10, 20, 9, 30) - Date.parse(NOW)],
  ...Array.from({ length: 12 }, (_, month): [string, number] => {
    const at = Date.UTC(2027, month, 5, 9, 30, 5);
    return [new Date(at).toUTCString(), at - Date.parse(NOW)];
  }),
])('%s is read as a delay', (header, milliseconds) => expect(readRetryAfter(header, NOW)).toBe(milliseconds));

test.each([
  undefined,
  '',
  '0',
  '-5',
  '+5',
  '1.5',
  '5s',
  '0x10',
  '1e3',
  ' 5',
  '5, 6',
  'soon',
  'Fri, 20 Nov 2026 09:30:00 GMT',
  'Fri, 20 Nov 2026 09:29:59 GMT',
  'Friday, 20-Nov-94 09:30:00 GMT',
  'Fri, 32 Nov 2026 09:31:00 GMT',
  'Tue, 31 Nov 2026 09:31:00 GMT',
  'Fri, 20 Nov 2026 24:31:00 GMT',
  'Fri, 20 Nov 2026 09:61:00 GMT',
  'Fri, 20 nov 2026 09:31:00 GMT',
  'Fri, 20 Nov 2026 09:31:00 UTC',
  '20 Nov 2026 09:31:00 GMT',
  '2026-11-20T09:31:00Z',
  '2026-11-20',
])('%s is not a delay', (header) => expect(readRetryAfter(header, NOW)).toBeUndefined());
