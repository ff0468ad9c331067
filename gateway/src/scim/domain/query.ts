import type { Condition } from '../../accounts/domain/directory.ts';
import { readFilter, type ResourceName } from './filter.ts';
import { scimFault } from './scim-fault.ts';

/** `scimmy` needs about 0.3 milliseconds for each user, in which the process does nothing else. */
export const MAX_COUNT = 100;

const MAX_LENGTH = 1_000;

/** By their names in lower case. */
const ATTRIBUTES = new Map(
  ['id', 'externalId', 'userName', 'displayName', 'name', 'active', 'emails', 'members', 'meta'].map((name) => [
    name.toLowerCase(),
    name,
  ]),
);

export interface ScimQuery {
  conditions: Condition[];
  /** Of the first one; begins at 1. */
  startIndex: number;
  count: number;
  showsMembers: boolean;
  /** For `scimmy`. */
  parameters: { attributes?: string; excludedAttributes?: string };
}

/** Reads the query of a request; what it lacks, and other parameters, mean nothing. @throws DomainError `invalid_request` */
export function readQuery(resource: ResourceName, search: string): ScimQuery {
  const parameters = new URLSearchParams(search);
  const filter = parameters.get('filter');
  const included = namesOf(parameters.get('attributes'));
  const excluded = namesOf(parameters.get('excludedAttributes'))?.filter((name) => !name.includes('.'));
  const isMembers = (name: string) => name === 'members';
  const others = (names: readonly string[]) => names.filter((name) => !isMembers(name)).join(',');
  const roots = included?.map((name) => ATTRIBUTES.get(name.split('.', 1)[0] ?? '') ?? 'id');
  const left = excluded?.flatMap((name) => ATTRIBUTES.get(name) ?? []) ?? [];
  return {
    conditions: filter === null ? [] : readFilter(resource, filter),
    startIndex: Math.max(1, integerOf(parameters, 'startIndex') ?? 1),
    count: Math.min(MAX_COUNT, Math.max(0, integerOf(parameters, 'count') ?? MAX_COUNT)),
    showsMembers: roots?.some(isMembers) ?? !left.some(isMembers),
    parameters: {
      ...(roots !== undefined && { attributes: others([...new Set(['id', ...roots])]) }),
      ...(roots === undefined && others(left) !== '' && { excludedAttributes: others(left) }),
    },
  };
}

/** The names of a list, in lower case. */
function namesOf(list: string | null): string[] | undefined {
  if (list === null) return undefined;
  if (list.length > MAX_LENGTH)
    throw scimFault('invalidValue', `A list of attributes has at most ${MAX_LENGTH} characters`);
  return list
    .toLowerCase()
    .split(',')
    .map((name) => name.trim().replace(/^urn:[\w.:-]+:/, ''));
}

function integerOf(parameters: URLSearchParams, name: string): number | undefined {
  const text = parameters.get(name);
  if (text === null) return undefined;
  if (!/^-?\d{1,9}$/.test(text)) throw scimFault('invalidValue', `${name} must be a whole number`);
  return Number(text);
}
