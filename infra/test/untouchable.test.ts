import { expect, test } from '@jest/globals';
import { untouchable } from '../generate/untouchable.ts';

interface Parts {
  tools: { clock: { now: () => string } };
}

const parts = untouchable('parts') as Parts;

test('lets parts be taken apart and handed on, as routes do that are declared', () => {
  const declare = ({ tools }: Parts) => {
    const { clock } = tools;
    return { handle: () => clock.now() };
  };
  expect(declare(parts)).toHaveProperty('handle');
});

test('tells which part was used before there was one', () => {
  expect(() => parts.tools.clock.now()).toThrow('parts.tools.clock.now was used');
  expect(() => ({ ...parts })).toThrow('parts was used');
});
