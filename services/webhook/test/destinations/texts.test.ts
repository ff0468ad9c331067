import { describe, expect, test } from '@jest/globals';
import type { Described } from '../../src/destinations/domain/describe-event.ts';
import { KINDS_BY_NAME } from '../../src/destinations/domain/kinds/index.ts';
import type { KindOfDestination, Markup } from '../../src/destinations/domain/kinds/kind.ts';
import { DEFAULT_TEMPLATE, parseTemplate } from '../../src/destinations/domain/template.ts';

const VALUES: Described = {
  ...{ id: '2c1e6a52-5f0e-4c66-9a3c-2f5d1c0f7a11', phase: 'began', key: 'tocsin/acme/INC-17', rank: 0, body: '{}' },
  ...{ reference: 'INC-17', url: 'https://acme.example/app/incidents/INC-17', title: 'Checkout is down' },
  ...{ what: 'declared by Ana, sev1, open', severity: 'sev1', status: 'open', service: 'checkout' },
  ...{ type: 'incident.created', occurred_at: '2026-11-20T09:30:00.000Z', workspace: 'acme', by: 'Ana' },
};
const names = ['slack', 'teams', 'google_chat', 'discord', 'mattermost'] as const;
type ChatName = (typeof names)[number];
const markupOf = ({ markup }: KindOfDestination) => markup as Markup;
const URL_OF_CHAT = 'https://chat.example/hook';
/** The body of a message with these texts. */
const bodyOf = (name: ChatName, texts: readonly string[]): string => {
  const to = { url: URL_OF_CHAT, credential: '', headers: {}, workspaceId: 1, recipients: [] };
  const message = KINDS_BY_NAME[name].message(
    texts.map((text) => ({ ...VALUES, text })),
    to,
  );
  return message.kind === 'http' ? message.body : '';
};

/** What a hostile title becomes in each chat. */
const TEXTS: [string, string, Record<ChatName, string>][] = [
  [
    'entities',
    'a & b < c > d &amp;',
    {
      slack: 'a &amp; b &lt; c &gt; d &amp;amp;',
      teams: String.raw`a & b \< c \> d &amp;`,
      google_chat: 'a &amp; b &lt; c &gt; d &amp;amp;',
      discord: String.raw`a & b \< c \> d &amp;`,
      mattermost: String.raw`a & b \< c \> d &amp;`,
    },
  ],
  [
    'a mention of everybody in Slack',
    '<!channel> <@U1> @here',
    {
      slack: '&lt;!channel&gt; &lt;@U1&gt; @\u2060here',
      teams: '\\<!channel\\> \\<@U1\\> @\u2060here',
      google_chat: '&lt;!channel&gt; &lt;@U1&gt; @\u2060here',
      discord: '\\<!channel\\> \\<@U1\\> @\u2060here',
      mattermost: '\\<!channel\\> \\<@\u2060U1\\> @\u2060here',
    },
  ],
  [
    'a mention of everybody elsewhere',
    '@everyone @ALL <users/all> <at>all</at> <@&1>',
    {
      slack: '@\u2060everyone @\u2060ALL &lt;users/all&gt; &lt;at&gt;all&lt;/at&gt; &lt;@&amp;1&gt;',
      teams: '@\u2060everyone @\u2060ALL \\<users/all\\> \\<at\\>all\\</at\\> \\<@&1\\>',
      google_chat: '@\u2060everyone @\u2060ALL &lt;users/all&gt; &lt;at&gt;all&lt;/at&gt; &lt;@&amp;1&gt;',
      discord: '@\u2060everyone @\u2060ALL \\<users/all\\> \\<at\\>all\\</at\\> \\<@&1\\>',
      mattermost: '@\u2060everyone @\u2060ALL \\<users/all\\> \\<at\\>all\\</at\\> \\<@&1\\>',
    },
  ],
  [
    'links',
    '<https://evil.example|INC-17> [x](https://evil.example) <a href="x">',
    {
      slack: '&lt;https://evil.example|INC-17&gt; [x](https://evil.example) &lt;a href="x"&gt;',
      teams: String.raw`\<https://evil.example\|INC-17\> \[x\](https://evil.example) \<a href="x"\>`,
      google_chat: '&lt;https://evil.example|INC-17&gt; [x](https://evil.example) &lt;a href=&quot;x&quot;&gt;',
      discord: String.raw`\<https://evil.example\|INC-17\> \[x\](https://evil.example) \<a href="x"\>`,
      mattermost: String.raw`\<https://evil.example\|INC-17\> \[x\](https://evil.example) \<a href="x"\>`,
    },
  ],
  [
    'Markdown',
    '# *a* _b_ ~c~ `d` ||e|| \\',
    {
      slack: '# *a* _b_ ~c~ ˋdˋ ||e|| \\',
      teams: '\\# \\*a\\* \\_b\\_ \\~c\\~ \\`d\\` \\|\\|e\\|\\| \\\\',
      google_chat: '# *a* _b_ ~c~ `d` ||e|| \\',
      discord: '\\# \\*a\\* \\_b\\_ \\~c\\~ \\`d\\` \\|\\|e\\|\\| \\\\',
      mattermost: '\\# \\*a\\* \\_b\\_ \\~c\\~ \\`d\\` \\|\\|e\\|\\| \\\\',
    },
  ],
  [
    'lines, a date of a card, hidden characters and half a character',
    'a\r\n\r\nINC-1\tb {{{DATE(x)}} \u202ec\u200b\u0000 @\u200beveryone \ud83d',
    {
      slack: 'a INC-1 b {{{DATE(x)}} c @ everyone \ufffd',
      teams: 'a INC-1 b {\u2060{\u2060{DATE(x)}} c @ everyone \ufffd',
      google_chat: 'a INC-1 b {{{DATE(x)}} c @ everyone \ufffd',
      discord: 'a INC-1 b {\u2060{\u2060{DATE(x)}} c @ everyone \ufffd',
      mattermost: 'a INC-1 b {\u2060{\u2060{DATE(x)}} c @ everyone \ufffd',
    },
  ],
];

describe.each(names)('%s', (name) => {
  const chat = markupOf(KINDS_BY_NAME[name]);
  const textOf = (values: Partial<Described>, template = DEFAULT_TEMPLATE) =>
    parseTemplate(template, chat)({ ...VALUES, ...values });

  test.each(TEXTS)('has no markup of a title: %s', (_, title, expected) => {
    expect(textOf({ title }, '{{title}}')).toBe(expected[name]);
  });

  test('cuts long values at code points, and no escape or link, and keeps within its limit', () => {
    for (const piece of ['&', '*', '<', '👩', 'e\u0301', '`', '"', 'x'])
      for (const length of [10, 900, 999, 1_000, 1_001, 100_000]) {
        const title = piece.repeat(length);
        const text = textOf({ title, what: title, service: title }, '{{link}} {{title}} {{what}} {{service}} end');
        expect(text.length).toBeLessThanOrEqual(chat.limit);
        expect(text.isWellFormed()).toBe(true);
        expect(text.startsWith(chat.link(chat.escape('INC-17'), VALUES.url))).toBe(true);
        const rest = text.slice(chat.link(chat.escape('INC-17'), VALUES.url).length).replace(/ end$/, '');
        const whole = rest.replaceAll(chat.escape(piece), '').replaceAll(/[ …]/g, '');
        // A letter and its accent are two code points.
        expect(whole.replaceAll('e', '')).toBe('');
        expect(text.includes('…')).toBe([...title].length > 1_000 || chat.escape(title).length * 3 > chat.limit - 200);
      }
  });

  test('a full message is within what the chat takes', () => {
    const texts: string[] = [];
    // Characters of three bytes.
    const text = textOf({ title: '→'.repeat(5_000) });
    while (texts.length < 20 && [...texts, text].join('\n\n').length <= chat.limit) texts.push(text);
    const bytes = Buffer.byteLength(bodyOf(name, texts));
    const most = { slack: 40_000, teams: 28_000, google_chat: 32_000, discord: 20_000, mattermost: 40_000 };
    expect(bytes).toBeLessThan(most[name]);
  });

  test.each([
    [
      'a {{title}}\nb\n{{titel}}',
      'Must not have the placeholder {{titel}} in line 3; there are: link, reference, url,',
    ],
    ['{{ title', 'Must not have the placeholder {{ in line 1'],
    ['\n{{}}', 'Must not have the placeholder {{}} in line 2'],
    [' \n', 'Must have 1 to '],
    ['x'.repeat(chat.limit), 'Must have 1 to '],
  ])('refuses the template %j', (template, message) => {
    const parse = () => parseTemplate(template, chat);
    expect(parse).toThrow(expect.objectContaining({ code: 'invalid_request', field: 'template' }));
    expect(parse).toThrow(message);
  });

  test('a template is the markup of the chat, and values within it are text', () => {
    const text = textOf({ title: '{{url}} <b>' }, '*<b>{{severity}}* {{title}}\n{{url}}\n');
    expect(text).toBe(`*<b>sev1* ${chat.escape('{{url}} <b>')}\n${VALUES.url}`);
    expect(textOf({ service: '' }, '{{service}}')).toBe('…');
  });
});

test('messages have the forms of incoming webhooks', () => {
  const texts = names.map((name) => [name, JSON.parse(bodyOf(name, ['one', '<b>two</b>']))]);
  expect(Object.fromEntries(texts)).toEqual({
    slack: {
      text: 'one\n<b>two</b>',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: 'one\n<b>two</b>', verbatim: true } }],
      ...{ unfurl_links: false, unfurl_media: false },
    },
    teams: {
      type: 'message',
      attachments: [
        {
          ...{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null },
          content: {
            ...{ type: 'AdaptiveCard', version: '1.4', msteams: { width: 'Full' } },
            body: [
              { type: 'TextBlock', text: 'one', wrap: true },
              { type: 'TextBlock', text: '<b>two</b>', wrap: true },
            ],
          },
        },
      ],
    },
    google_chat: {
      fallbackText: 'one two',
      cardsV2: [
        {
          cardId: 'tocsin',
          card: {
            sections: [{ widgets: [{ textParagraph: { text: 'one' } }, { textParagraph: { text: '<b>two</b>' } }] }],
          },
        },
      ],
    },
    discord: { content: 'one\n<b>two</b>', allowed_mentions: { parse: [] } },
    mattermost: { text: 'one\n\n<b>two</b>' },
  });
});
