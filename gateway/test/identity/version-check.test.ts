import { expect, test } from '@jest/globals';
import { versionCheck } from '../../src/identity/http/version-check.ts';

/** A version that the test changes. */
function source(ttl: number) {
  const state = { version: 1, lookUps: 0, changes: 0, isDown: false };
  const find = async () => {
    state.lookUps += 1;
    if (state.isDown) throw new Error('the database is down');
    return state.version;
  };
  return { state, confirm: versionCheck({ ttl, find, onChange: () => (state.changes += 1) }) };
}

test('what was confirmed a moment ago needs no look-up', async () => {
  const { state, confirm } = source(60_000);
  await confirm();
  expect(confirm()).toBeUndefined();
  expect(state.lookUps).toBe(1);
});

test('all requests share one look-up', async () => {
  const { state, confirm } = source(0);
  await Promise.all([confirm(), confirm(), confirm()]);
  expect(state.lookUps).toBe(1);
});

test('another version is reported once', async () => {
  const { state, confirm } = source(0);
  await confirm();
  await confirm();
  expect(state.changes).toBe(1);
  state.version = 2;
  await confirm();
  await confirm();
  expect(state.changes).toBe(2);
});

test('nothing is confirmed while the version cannot be read', async () => {
  const { state, confirm } = source(60_000);
  state.isDown = true;
  await expect(confirm()).rejects.toThrow('down');
  await expect(confirm()).rejects.toThrow('down');
  state.isDown = false;
  await confirm();
  expect(confirm()).toBeUndefined();
});
