import { expect, test } from '@jest/globals';
import { type Change, shortenChanges } from '../../src/incidents/domain/changes.ts';
import { toLargeValue } from '../../src/incidents/domain/large-value.ts';

/** A text that has this many bytes as JSON. */
const textOf = (bytes: number) => 'x'.repeat(bytes - 2);
const change = (from: unknown, to: unknown, field = 'custom_fields.blob'): Change => ({ field, from, to });

test('values of more than 4 KiB are shown as their digests, each side for itself', () => {
  const [small, large] = [textOf(4_096), textOf(4_097)];
  const changes = [change(small, large), change({ large }, null), change(1, small)];
  expect(shortenChanges(changes)).toEqual({
    changes: [change(small, toLargeValue(large)), change(toLargeValue({ large }), null), change(1, small)],
    bytes: 2 * 4_096 + 4_097 + JSON.stringify({ large }).length + 'null1'.length,
  });
});

test('if the values of one entry are large together, the largest of them are shown as their digests', () => {
  const changes = Array.from({ length: 40 }, (_, index) =>
    change(null, textOf(2_000 + index), `custom_fields.f${index}`),
  );
  const shortened = shortenChanges(changes).changes;
  const digests = shortened.map(({ to }) => typeof to !== 'string');
  // 32 values of about 2 KB fit into 64 KiB.
  expect(digests).toEqual(changes.map((_, index) => index >= 32));
  expect(shortened[0]).toEqual(changes[0]);
});

test('shortened changes stay as they are', () => {
  const { changes } = shortenChanges([change(textOf(5_000), textOf(50_000)), change('a', 'b')]);
  expect(shortenChanges(changes).changes).toEqual(changes);
});
