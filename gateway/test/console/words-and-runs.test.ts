import { expect, test } from '@jest/globals';
import type { ChangelogEntry } from '@tocsin/sdk';
import fc from '@tocsin/testing/fuzz';
import { changesOf, continuesRun } from '../../console/src/incident/runs.ts';
import { compareWords, type Piece } from '../../console/src/ui/compare-words.ts';

const textOf = (pieces: readonly Piece[]) => pieces.map(({ text }) => text).join('');
const ownOf = (pieces: readonly Piece[]) => pieces.filter(({ isSame }) => !isSame).map(({ text }) => text);

test('the words that differ are found, and both texts are whole', () => {
  const { before, after } = compareWords('The disk of db-1 is full', 'The disk of db-2 is nearly full');
  expect([textOf(before), textOf(after)]).toEqual(['The disk of db-1 is full', 'The disk of db-2 is nearly full']);
  expect([ownOf(before), ownOf(after)].map((own) => own.map((text) => text.trim()))).toEqual([['1'], ['2', 'nearly']]);
  const word = fc.constantFrom('a', 'b', ' ', '\n', 'قاعدة', '🚒', '.');
  const texts = fc.array(word, { maxLength: 30 }).map((words) => words.join(''));
  fc.assert(
    fc.property(texts, texts, (one, other) => {
      const pieces = compareWords(one, other);
      expect([textOf(pieces.before), textOf(pieces.after)]).toEqual([one, other]);
      const same = (side: readonly Piece[]) => textOf(side.filter(({ isSame }) => isSame));
      expect(same(pieces.before)).toBe(same(pieces.after));
    }),
  );
});

test('of the longest texts, what differs is one piece', () => {
  const long = (word: string) => `first ${`${word} `.repeat(13_000)}last`;
  const { before, after } = compareWords(long('one'), long('two'));
  expect(before.map(({ isSame }) => isSame)).toEqual([true, false, true]);
  expect([textOf(before), textOf(after)]).toEqual([long('one'), long('two')]);
});

const entry = (id: number, minute: number, changes: ChangelogEntry['changes'], actor = '1'): ChangelogEntry => ({
  ...{ id, incident_id: 1, revision: id, actor, api_key: null, imported: false, changes },
  changed_at: new Date(minute * 60_000).toISOString(),
});
const title = (from: string, to: string) => [{ field: 'title', from, to }];

test('changes of one actor within five minutes are one run', () => {
  const run = [entry(1, 0, title('a', 'b'))];
  expect(continuesRun(run, entry(2, 5, title('b', 'c')))).toBe(true);
  expect(continuesRun(run, entry(2, 6, title('b', 'c')))).toBe(false);
  expect(continuesRun(run, entry(2, 1, title('b', 'c'), '2'))).toBe(false);
  expect(continuesRun(run, entry(2, 1, [{ field: 'follow_ups.1', from: null, to: 'left' }]))).toBe(false);
  expect(continuesRun([], entry(2, 1, title('b', 'c')))).toBe(false);
});

test('a run says what it has changed in all, the status first, in whatever order it is read', () => {
  const status = { field: 'status', from: 'open', to: 'active' };
  const regions = (from: string[], to: string[]) => ({ field: 'regions', from, to });
  const run = [
    entry(1, 0, [...title('a', 'b'), regions([], ['eu'])]),
    entry(2, 1, [...title('b', 'c'), regions(['eu'], [])]),
    entry(3, 2, [status]),
  ];
  const all = [status, ...title('a', 'c')];
  expect(changesOf(run)).toEqual(all);
  expect(changesOf(run.toReversed())).toEqual(all);
});
