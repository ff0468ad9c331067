import type { Condition } from '../../accounts/domain/directory.ts';
import { scimFault } from './scim-fault.ts';

export type ResourceName = 'Users' | 'Groups';

const MAX_LENGTH = 1_000;
const MAX_COMPARISONS = 5;

/** By the attribute in lower case, as filters name it. */
const ATTRIBUTES: Readonly<Record<ResourceName, ReadonlyMap<string, Condition['name']>>> = {
  Users: new Map([
    ['id', 'id'],
    ['username', 'userName'],
    ['externalid', 'externalId'],
    ['displayname', 'displayName'],
    ['active', 'active'],
    ['emails', 'email'],
    ['emails.value', 'email'],
    ['emails[type eq "work"].value', 'email'],
  ]),
  Groups: new Map([
    ['id', 'id'],
    ['displayname', 'displayName'],
    ['externalid', 'externalId'],
    ['members', 'member'],
    ['members.value', 'member'],
  ]),
};

const COMPARISON =
  /^\s*(emails\[type eq "work"\]\.value|members\[value|[a-z]+(?:\.[a-z]+)?)\s+eq\s+("(?:[^"\\]|\\.)*"|true|false)(\])?\s*/i;
const AND = /^and\s+/i;

/**
 * Reads a filter: comparisons by `eq`, joined by `and`, which is what Entra ID and Okta send. The parser of `scimmy`
 * needs a second for 330 characters of nested alternatives, so it gets none.
 * @throws DomainError `invalid_request`
 */
export function readFilter(resource: ResourceName, filter: string): Condition[] {
  if (filter.length > MAX_LENGTH) throw scimFault('invalidFilter', `A filter has at most ${MAX_LENGTH} characters`);
  const conditions: Condition[] = [];
  let text = `and ${filter}`;
  while (text !== '') {
    if (!AND.test(text)) throw unsupported(resource);
    text = text.replace(AND, '');
    const [whole = '', attribute = '', literal = '', bracket] = COMPARISON.exec(text) ?? [];
    const isBracketed = attribute.toLowerCase() === 'members[value';
    const name = ATTRIBUTES[resource].get(isBracketed ? 'members' : attribute.toLowerCase());
    if (name === undefined || isBracketed !== (bracket !== undefined) || conditions.length === MAX_COMPARISONS)
      throw unsupported(resource);
    conditions.push(conditionOf(name, literal));
    text = text.slice(whole.length);
  }
  return conditions;
}

function conditionOf(name: Condition['name'], literal: string): Condition {
  let value: unknown;
  try {
    value = JSON.parse(
      literal.toLowerCase() === 'true' || literal.toLowerCase() === 'false' ? literal.toLowerCase() : literal,
    );
  } catch {
    throw scimFault('invalidFilter', 'A value of a filter is a JSON string, true or false');
  }
  if (name === 'active') return { name, value: String(value).toLowerCase() === 'true' };
  const text = String(value);
  // Postgres stores neither.
  if (text.includes('\0') || !text.isWellFormed())
    throw scimFault('invalidFilter', 'A value of a filter has characters that no text has');
  return { name, value: name === 'id' || name === 'member' ? idOf(text) : text };
}

/** Returns the number of an ID; 0 is nobody's. */
export const idOf = (text: string): number => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : 0);

const unsupported = (resource: ResourceName) =>
  scimFault(
    'invalidFilter',
    `A filter is up to ${MAX_COMPARISONS} comparisons by eq, joined by and, of ` +
      (resource === 'Users'
        ? 'userName, externalId, id, displayName, active or emails.value'
        : 'displayName, externalId, id or members.value'),
  );
