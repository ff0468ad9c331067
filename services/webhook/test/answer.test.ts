import { expect, test } from '@jest/globals';
import fc from '@tocsin/testing/fuzz';
import { ANSWER_BYTES, answerText } from '../src/requests/domain/answer.ts';

const destination = {
  url: 'https://hooks.example.com/services/T0/Qm8sVt0Kx2Lp?key=s%C3%A4cret-value',
  headers: { Authorization: 'Bearer token-of-the-gateway', 'X-Key': `x"y&z<1>` },
};
const shown = (text: string | Buffer) => answerText(Buffer.from(text).subarray(0, ANSWER_BYTES), destination);

test.each([
  ['nothing', '', null],
  ['text', 'no such “channel”\n\tretry', 'no such “channel”\n\tretry'],
  ['control characters', 'a\0b\u001B[31mc\u009Dd', 'a\uFFFDb\uFFFD[31mc\uFFFDd'],
  ['bytes that are no UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28]), 'a\uFFFD\uFFFD('],
  ['a half of a surrogate pair', Buffer.from([0xed, 0xa0, 0x80]), '\uFFFD\uFFFD\uFFFD'],
])('what is kept of %s', (_, said, kept) => expect(shown(said)).toBe(kept));

test.each([
  ['the path', 'Cannot POST /services/T0/Qm8sVt0Kx2Lp?key=s%C3%A4cret-value', 'Cannot POST ***'],
  ['the path alone', '{"path":"/services/T0/Qm8sVt0Kx2Lp"}', '{"path":"***"}'],
  ['a part of it', 'unknown hook Qm8sVt0Kx2Lp', 'unknown hook ***'],
  ['a decoded value', 'key=säcret-value is wrong', 'key=*** is wrong'],
  ['a header', 'authorization: Bearer token-of-the-gateway', 'authorization: ***'],
  ['the credential of a header', 'token-of-the-gateway has expired', '*** has expired'],
  ['the secret of the signature', 'not signed by whsec_3q2A7wEjRWeJq83v', 'not signed by ***'],
  ['a header in HTML', '<pre>x&quot;y&amp;z&lt;1&gt;</pre>', '<pre>***</pre>'],
])('an answer that has %s does not show it', (_, said, kept) => expect(shown(said)).toBe(kept));

test('a name and a password are hidden as they are and encoded', () => {
  const headers = { Authorization: `Basic ${Buffer.from('tocsin:correct horse').toString('base64')}` };
  const said = Buffer.from(`${headers.Authorization}; tocsin:correct horse`);
  expect(answerText(said, { url: 'https://a.example/', headers })).toBe('***; ***');
});

test('a secret that is cut off at the end of what was read is hidden', () => {
  expect(shown(`${'😀'.repeat(1_000)}${'.'.repeat(80)}token-of-the-gateway`)).toBe(
    `${'😀'.repeat(1_000)}${'.'.repeat(24)}`,
  );
  expect(shown(`${'😀'.repeat(1_020)}token-of-the-gateway`)).toBe(`${'😀'.repeat(1_020)}***`);
});

test('no answer has more than 1,024 characters, or one that a text of PostgreSQL cannot have', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 6_000 }), (bytes) => {
      const text = answerText(Buffer.from(bytes).subarray(0, ANSWER_BYTES), destination) ?? '';
      expect([...text].length).toBeLessThanOrEqual(1_024);
      expect(text.isWellFormed()).toBe(true);
      expect(text).not.toContain('\0');
    }),
  );
});
