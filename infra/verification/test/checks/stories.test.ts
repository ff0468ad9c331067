import { expect, test } from '@jest/globals';
import { checkStories } from '../../checks/stories.ts';

const story = (room: string, lines = 5) =>
  ['/**', ` * \`${room}\` is a room.`, ...Array.from({ length: lines - 1 }, () => ' * More.'), ' */', ''].join('\n');

const problemsOf = (texts: Readonly<Record<string, string>>) =>
  checkStories(Object.keys(texts), (file) => texts[file] ?? '').map(({ where }) => where);

test('accepts rooms and apps without rooms of which one file begins with the story', () => {
  const problems = problemsOf({
    'gateway/src/edge/http/public-handler.ts': `${story('edge')}import './forwarder.ts';\n`,
    'gateway/src/edge/http/forwarder.ts': '/** Forwards. */\n',
    'services/catalog/src/app.ts': story('catalog', 10),
    'services/catalog/src/usecases/teams.ts': '',
    'infra/demo/create-demo.ts': story('demo'),
    'infra/demo/test/demo.test.ts': '',
    'shared/runtime/src/clock.ts': '',
  });
  expect(problems).toEqual([]);
});

test.each([
  ['no story', '', 'none'],
  ['another name', story('pages'), 'none'],
  ['a story behind the imports', `import './forwarder.ts';\n${story('edge')}`, 'none'],
])('refuses a room with %s', (_, text, which) => {
  expect(problemsOf({ 'gateway/src/edge/http/public-handler.ts': text })).toEqual([
    `one file of gateway/edge begins with its story, and not ${which}`,
  ]);
});

test('refuses an app without rooms that has no story', () => {
  expect(problemsOf({ 'services/catalog/src/app.ts': '' })).toEqual([
    'one file of catalog begins with its story, and not none',
  ]);
});

test('refuses two stories of a room', () => {
  const files = ['gateway/src/edge/http/forwarder.ts', 'gateway/src/edge/http/public-handler.ts'];
  expect(problemsOf(Object.fromEntries(files.map((file) => [file, story('edge')])))).toEqual([
    `one file of gateway/edge begins with its story, and not ${files.join(', ')}`,
  ]);
});

test.each([4, 11])('refuses a story of %i lines', (lines) => {
  const file = 'infra/demo/create-demo.ts';
  expect(problemsOf({ [file]: story('demo', lines) })).toEqual([`${file}: a story has 5 to 10 lines, not ${lines}`]);
});
