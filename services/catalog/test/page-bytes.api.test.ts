import { expect, test } from '@jest/globals';
import { MAX_PAGE_BYTES } from '@tocsin/http';
import { readPages } from '@tocsin/testing';
import { newWorkspace, serviceForFile } from './service.ts';

const service = await serviceForFile();

/** Six bytes of JSON for each character. */
const longest = (characters: number) => '\u0001'.repeat(characters);

test.each([
  ['services', { observability_names: Array.from({ length: 50 }, (_, n) => `${longest(125)}${n}`) }],
  ['teams', {}],
])('%s with the longest texts are listed once and in order', async (name, more) => {
  const client = service.as(newWorkspace());
  const path = `/api/v1/${name}`;
  const ids: number[] = [];
  for (let n = 0; n < 100; n += 1) {
    const text = n % 7 === 0 ? 'short' : longest(10_000);
    const body = { name: `n${String(n).padStart(2, '0')}`, description: text, ...more };
    const answer = await client.post(path, body);
    expect(answer.status).toBe(201);
    ids.push(answer.body[name.slice(0, -1)].id);
  }
  const list = await readPages(client, path, name);
  expect(list.ids).toEqual(ids);
  expect(list.pages.length).toBeGreaterThan(1);
  for (const { bytes } of list.pages) expect(bytes).toBeLessThan(MAX_PAGE_BYTES + 1_000);
});
