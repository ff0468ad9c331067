/** The types of sort keys, and the values that a cursor may have for them. */
const KEY_TYPES = {
  text: (value: unknown) => typeof value === 'string',
  integer: (value: unknown) => Number.isSafeInteger(value),
  boolean: (value: unknown) => typeof value === 'boolean',
  /** Text, because the precision is unlimited. */
  decimal: matching(/^-?\d+(\.\d+)?$/),
  timestamp: matching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  date: matching(/^\d{4}-\d\d-\d\d$/),
  time: matching(/^\d\d:\d\d:\d\d(\.\d+)?$/),
} as const;

function matching(pattern: RegExp) {
  return (value: unknown) => typeof value === 'string' && pattern.test(value);
}

export type KeyType = keyof typeof KEY_TYPES;

/** The value of a sort key in a cursor. */
export type Key = string | number | boolean;

/**
 * A part of a list's order in which all rows have the same sort keys; most lists have one segment. Cursors contain its
 * name, and clients keep cursors across releases: a segment whose sort keys change needs a new name.
 */
export interface SortSegment {
  readonly name: string;
  readonly keys: readonly KeyType[];
}

type KeyOf<Type extends KeyType> = Type extends 'integer' ? number : Type extends 'boolean' ? boolean : string;

type KeysOf<Types extends readonly KeyType[]> = { readonly [Index in keyof Types]: KeyOf<Types[Index]> };

/** The sort keys of the last row of a page. */
export type Position<Of extends SortSegment = SortSegment> = KeysOf<Of['keys']>;

/** A position in a list: a segment and the sort keys within it. */
export interface SegmentPosition<Of extends SortSegment = SortSegment> {
  segment: Of['name'];
  position: Position<Of>;
}

/** @returns `undefined` if the payload is not a position in one of these segments */
export function readSegmentPosition<Of extends SortSegment>(
  payload: unknown,
  segments: readonly Of[],
): SegmentPosition<Of> | undefined {
  if (!Array.isArray(payload)) return undefined;
  const [name, ...keys] = payload as unknown[];
  const segment = segments.find((candidate) => candidate.name === name);
  if (segment?.keys.length !== keys.length) return undefined;
  if (!segment.keys.every((type, index) => KEY_TYPES[type](keys[index]))) return undefined;
  return { segment: segment.name, position: keys as unknown as Position<Of> };
}
