import { describe, expect, test } from '@jest/globals';
import { parseCommand } from '../../src/chat-commands/domain/slash-command.ts';
import { plainText } from '../../src/chat-commands/domain/slack-text.ts';

test.each([
  ['', { name: 'help' }],
  ['  HELP me', { name: 'help' }],
  ['declare Checkout is down', { name: 'declare', title: 'Checkout is down' }],
  [
    'declare severity:"SEV 1" Auth service: slow service:checkout',
    { name: 'declare', title: 'Auth service: slow', severity: 'SEV 1', service: 'checkout' },
  ],
  ['update inc-12 Rolled back', { name: 'update', reference: 'INC-12', text: 'Rolled back' }],
  ['update INC-12', { problem: '“update” lacks a text' }],
  ['update  Two\nlines', { name: 'update', text: 'Two\nlines' }],
  ['status On hold', { name: 'status', text: 'On hold' }],
  ['severity sev1', { name: 'severity', text: 'sev1' }],
  ['lead me', { name: 'lead' }],
  ['lead INC-3 <@U0000007|ana>', { name: 'lead', reference: 'INC-3', person: 'U0000007' }],
  ['lead ana', { problem: expect.stringContaining('“lead” takes “me”') }],
  ['resolve', { name: 'resolve' }],
  ['resolve INC-4 because', { problem: expect.stringContaining('nothing but the reference') }],
  ['follow-up Write a test', { name: 'follow-up', text: 'Write a test' }],
  ['declare', { problem: '“declare” lacks a title' }],
  ['declare service:a service:b x', { problem: '“service” is given twice' }],
  ['constructor x', { problem: expect.stringContaining('There is no command “constructor”') }],
])('reads %p', (text, command) => {
  expect(parseCommand(text)).toEqual(command);
});

describe('texts of Slack become what was written', () => {
  test.each([
    ['a &lt;b&gt; &amp;amp; c', 'a <b> &amp; c'],
    ['see <https://acme.example/a?b=1&amp;c=2>', 'see https://acme.example/a?b=1&c=2'],
    [
      'see <http://acme.example|acme.example>, <mailto:ana@acme.example|ana@acme.example>',
      'see acme.example, ana@acme.example',
    ],
    ['see <https://acme.example/x|the page>', 'see the page (https://acme.example/x)'],
    [
      '<@U1|ana> and <@U2> in <#C1|general>, <!here> <!subteam^S1|@payments>',
      '@ana and @U2 in #general, @here @payments',
    ],
    ['1 &lt; 2 <', '1 < 2 <'],
  ])('%p', (sent, written) => {
    expect(plainText(sent)).toBe(written);
  });
});
