import type { Change } from './changes.ts';
import { shortenValues } from './large-value.ts';

/** Changes as changelog and events contain them, and the bytes of JSON of the values before they were shortened. */
export interface ShortenedChanges {
  changes: Change[];
  bytes: number;
}

/** As `shortenValues`, for what changes contain. */
export function shortenChanges(changes: readonly Change[]): ShortenedChanges {
  const { values, bytes } = shortenValues(changes.flatMap(({ from, to }) => [from, to]));
  return {
    changes: changes.map(({ field }, index) => ({ field, from: values[2 * index], to: values[2 * index + 1] })),
    bytes,
  };
}
