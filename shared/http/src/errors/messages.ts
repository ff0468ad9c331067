import type { z } from 'zod';
import { ownProperty } from '@tocsin/runtime';
import { nearName } from './near-name.ts';

type RawIssue = z.core.$ZodRawIssue;
type Issue = z.core.$ZodIssue;

/**
 * The message of a validation error, in the words of the contract: `Must be at most 100` (contract: Errors). Schemas give
 * their own message where these words are not precise enough.
 */
export function validationMessage(issue: RawIssue): string {
  // A missing property is undefined; JSON has no such value.
  if (issue.input === undefined && MISSING_CODES.has(issue.code)) return 'Is required';
  if (issue.input === null && issue.code !== 'custom') return 'Must not be null';
  switch (issue.code) {
    case 'invalid_type':
      return mustBe(isInteger(issue.inst) ? 'int' : issue.expected);
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_big':
      return tooBig(issue);
    case 'too_small':
      return tooSmall(issue);
    case 'invalid_format':
      return `Must be ${ownProperty(FORMATS, issue.format) ?? 'in the required form'}`;
    case 'not_multiple_of':
      return `Must be a multiple of ${issue.divisor}`;
    case 'unrecognized_keys':
      return unknownProperty(issue);
    case 'invalid_union':
      return oneOfTypes(issue.errors);
    default:
      return INVALID;
  }
}

/** Names the property that was probably meant, if one is near. */
function unknownProperty({ keys, inst }: Extract<RawIssue, { code: 'unrecognized_keys' }>): string {
  const def: object | undefined = inst?._zod.def;
  const names = def !== undefined && 'shape' in def ? Object.keys(def.shape as object) : [];
  const meant = nearName(keys[0] ?? '', names);
  return `Is not a known property${meant === undefined ? '' : `; did you mean ${meant}?`}`;
}

const MISSING_CODES: ReadonlySet<string> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);

const INVALID = 'Must be a valid value';

/** What a value must be, by the validator's names of types. */
const TYPES = {
  string: 'text',
  number: 'a number',
  int: 'an integer',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

function mustBe(type: string): string {
  const words = ownProperty(TYPES, type);
  return words === undefined ? INVALID : `Must be ${words}`;
}

/** The validator says of an integer's schema that it expects a number. */
const isInteger = (schema: RawIssue['inst']): boolean => {
  const def: object | undefined = schema?._zod.def;
  return def !== undefined && 'format' in def && def.format === 'safeint';
};

const FORMATS = {
  datetime: 'an RFC 3339 timestamp',
  uuid: 'a UUID',
};

const quantity = (count: number | bigint, unit: string) => `${count} ${unit}${Number(count) === 1 ? '' : 's'}`;

function oneOf(values: readonly unknown[]): string {
  const words = values.map((value) => (value === '' ? 'empty' : String(value)));
  return words.length === 1 ? `Must be ${words.join('')}` : `Must be one of ${words.join(', ')}`;
}

function tooBig({ origin, maximum, inclusive }: Extract<RawIssue, { code: 'too_big' }>): string {
  if (origin === 'string') return `Must be at most ${quantity(maximum, 'character')}`;
  if (origin === 'array') return `Must have at most ${quantity(maximum, 'item')}`;
  if (origin === 'object' || origin === 'record') return `Must have at most ${quantity(maximum, 'member')}`;
  return `Must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`;
}

function tooSmall({ origin, minimum, inclusive }: Extract<RawIssue, { code: 'too_small' }>): string {
  if (origin === 'string')
    return minimum === 1 ? 'Must not be empty' : `Must be at least ${quantity(minimum, 'character')}`;
  if (origin === 'array') return `Must have at least ${quantity(minimum, 'item')}`;
  return `Must be ${inclusive === false ? 'greater than' : 'at least'} ${minimum}`;
}

/** What the branches of a union accept; each has at least one issue with the value as a whole. */
function oneOfTypes(branches: readonly (readonly Issue[])[]): string {
  const types = branches.map((issues) => issues.find(isMismatch)).map((issue) => issue && typeOf(issue));
  if (types.length === 0 || types.includes(undefined)) return INVALID;
  return `Must be ${[...new Set(types)].join(' or ')}`;
}

/** Whether the value as a whole is of another type, or none of the values that the schema allows. */
export const isMismatch = ({ code, path }: Issue): boolean => path.length === 0 && MISSING_CODES.has(code);

function typeOf(issue: Issue): string | undefined {
  if (issue.code === 'invalid_type') return ownProperty(TYPES, issue.expected);
  return issue.code === 'invalid_value' ? ownProperty(TYPES, typeof issue.values[0]) : undefined;
}
