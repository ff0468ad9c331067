import { describe, expect, test } from '@jest/globals';
import { parseMarkdown } from '../../src/source-imports/domain/markdown.ts';

const AT = '2026-11-20T10:00:00Z';
const LATER = '2026-11-20T10:05:00Z';

const read = (...lines: string[]) => {
  const parsed = parseMarkdown(lines.join('\n'));
  if ('reason' in parsed) return parsed.reason;
  return parsed.entries.filter(({ violation }) => violation === undefined).map(({ at, body }) => ({ at, body }));
};
const one = (body: string, at = AT) => [{ at, body }];

describe('an item is an event when it starts with a timestamp', () => {
  test.each([
    ['-', `- ${AT} Down`],
    ['*', `* ${AT} Down`],
    ['+', `+ ${AT} Down`],
    ['a number', `1. ${AT} Down`],
    ['a number and a bracket', `12) ${AT} Down`],
    ['an indented marker', `   - ${AT} Down`],
    ['a tab', `-\t${AT} Down`],
    ['Windows line ends', `- ${AT} Down\r\n`],
  ])('behind %s', (_what, line) => expect(read(line)).toEqual(one('Down')));

  test.each([
    [`${AT} - Down`],
    [`${AT} – Down`],
    [`${AT} — Down`],
    [`${AT}: Down`],
    [`${AT} : Down`],
    [`${AT}:Down`],
    [`**${AT}** Down`],
    [`**${AT}**: Down`],
    [`**${AT}:** Down`],
    [`**${AT} –** Down`],
    [`*${AT}* — Down`],
    [`\`${AT}\` Down`],
    [`**\`${AT}\`** – Down`],
    [`__${AT}__ Down`],
    ['2026-11-20 10:00:00Z Down'],
  ])('- %s', (item) => expect(read(`- ${item}`)).toEqual(one('Down', item.includes('20 10') ? AT : undefined)));

  test('with any offset and any fraction', () => {
    expect(read('- 2026-11-20t11:00:00.1234567+01:00 Down')).toEqual(one('Down', '2026-11-20t11:00:00.1234567+01:00'));
  });

  test.each([
    ['a minus that is the text’s', `- ${AT} -5 °C in the hall`, '-5 °C in the hall'],
    ['a colon that is the text’s', `- ${AT} :fire: started`, ':fire: started'],
    ['markup that goes on', `- **${AT} – Checkout** is down`, '**Checkout** is down'],
    ['markup of its own', `- ${AT} **Checkout** is \`down\` &amp; out`, '**Checkout** is `down` &amp; out'],
  ])('%s stays', (_what, line, body) => expect(read(line)).toEqual(one(body)));

  test.each([
    ['no blank behind the marker', `-${AT} Down`],
    ['a date alone', '- 2026-11-20 Down'],
    ['text first', `- At ${AT} it was down`],
    ['code', `\`\`\`\n- ${AT} Down\n\`\`\``],
    ['code without end', `~~~~\n- ${AT} Down\n~~~`],
    ['a comment', `<!--\n- ${AT} Down\n-->`],
  ])('not an event: %s', (_what, text) => expect(read(text)).toMatch(/no list item that starts with a timestamp/));

  test.each(['2026-11-20T10:00:00', '2026-02-30T10:00:00Z', '2026-11-20 10:00 CET', `${AT}x`, '2026-11-20T25:00:00Z'])(
    '%s is a malformed timestamp, which validation rejects',
    (at) => expect(read(`- ${at} Down`)).toHaveLength(1),
  );
});

describe('the body of an item', () => {
  test('is the indented text below it', () => {
    expect(
      read(
        `- ${AT} Down`,
        '  since the deploy.',
        '',
        '  - Ana rolled back',
        '    at once',
        '',
        '      code, indented',
        '',
        'Not this.',
        '',
        '  Nor this.',
      ),
    ).toEqual(one('Down\nsince the deploy.\n\n- Ana rolled back\n  at once\n\n    code, indented'));
  });

  test('may begin below the timestamp', () => {
    expect(read(`1. **${AT}**`, '', '   Down', '   and out')).toEqual(one('Down\nand out'));
  });

  test('continues in an unindented paragraph until a blank line or another block', () => {
    expect(read(`- ${AT} Down`, 'and out', '', 'Not this')).toEqual(one('Down\nand out'));
    for (const next of ['# Heading', '> Quote', '---', '* * *', '```', '<!-- comment -->']) {
      expect(read(`- ${AT} Down`, next)).toEqual(one('Down'));
    }
  });

  test('keeps code unchanged, with lists and blank lines', () => {
    expect(
      read(`- ${AT} Log:`, '  ```text', `  - ${LATER} not an event`, '', '    out', '  ```', `- ${LATER} Up`),
    ).toEqual([...one(`Log:\n\`\`\`text\n- ${LATER} not an event\n\n  out\n\`\`\``), ...one('Up', LATER)]);
  });

  test('ends with the list, even if a code fence is not closed', () => {
    expect(read(`- ${AT} Log:`, '  ```', '  out', 'Text', '', `- ${LATER} Up`)).toEqual([
      ...one('Log:\n```\nout'),
      ...one('Up', LATER),
    ]);
  });

  test('is empty if nothing follows', () => expect(read(`- ${AT}`, '', '- other')).toEqual(one('')));
});

describe('nested items', () => {
  test('with a timestamp are separate events', () => {
    expect(
      read('- Morning', `  - ${AT} Down`, `    - ${LATER} Up`, '    and well', '  of the first', '', '- Evening: none'),
    ).toEqual([...one('Down'), ...one('Up\nand well\nof the first', LATER)]);
    expect(read(`- ${AT} Down`, `  - ${LATER} Up`, '', '  of the first')).toEqual([
      ...one('Down\n\nof the first'),
      ...one('Up', LATER),
    ]);
  });

  test('below an item without a timestamp are not its text', () => {
    expect(read('- Notes', '  more', `- ${AT} Down`)).toEqual(one('Down'));
    expect(read(`- ${AT} Down`, '- Notes', '  more')).toEqual(one('Down'));
  });
});
