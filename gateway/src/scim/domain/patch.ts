import type { MemberChange } from '../../accounts/domain/directory.ts';
import { idOf, type ResourceName } from './filter.ts';
import { scimFault } from './scim-fault.ts';

interface Operation {
  op: string;
  path: string;
  value: unknown;
}

const MAX_OPERATIONS = 1_000;
/** Of attributes other than members. */
const MAX_ATTRIBUTE_OPERATIONS = 50;
/** Of an object or a list for `scimmy`, which compares and copies each of them several times. */
const MAX_ENTRIES = 20;
const MAX_DEPTH = 3;
const MAX_PATH_LENGTH = 256;
/** Of one group. */
export const MAX_MEMBERS = 10_000;

/** An attribute with at most one comparison and one sub-attribute: what `scimmy` reads in no time. */
const PATH = /^(?:urn:[\w.:-]+:)?([a-z]\w*)(?:\[[a-z]\w* eq (?:"[^"\\\]]*"|true|false)\])?(?:\.[a-z]\w*)?$/i;
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;
const MEMBER = /^members\[value eq "([^"\\\]]*)"\]$/i;

/**
 * Attributes of RFC 7643 that Tocsin does not have, in lower case. Directories send them by default: `scimmy` drops them
 * from a whole resource, but refuses a PATCH of them, and everything else in it.
 */
const IGNORED = new Set([
  ...['id', 'schemas', 'meta', 'groups', 'nickname', 'profileurl', 'title', 'usertype', 'preferredlanguage', 'locale'],
  ...['timezone', 'password', 'phonenumbers', 'ims', 'photos', 'addresses', 'entitlements', 'roles'],
  ...['x509certificates'],
]);

/** The attributes that a request may set, by their names in lower case. */
const ATTRIBUTES: Readonly<Record<ResourceName, ReadonlyMap<string, string>>> = {
  Users: byLowerCase(['schemas', 'userName', 'externalId', 'displayName', 'name', 'active', 'emails']),
  Groups: byLowerCase(['schemas', 'displayName', 'externalId', 'members']),
};

function byLowerCase(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

/** Returns the attributes of a whole resource that Tocsin has. @throws DomainError `invalid_request` */
export function readResource(resource: ResourceName, body: Readonly<Record<string, unknown>>) {
  const entries = Object.entries(body).flatMap(([name, value]): [string, unknown][] => {
    const attribute = ATTRIBUTES[resource].get(name.toLowerCase());
    return attribute === undefined ? [] : [[attribute, value]];
  });
  const { members, ...attributes } = Object.fromEntries(entries);
  checkSize(attributes);
  return {
    attributes: withBooleansOf(attributes),
    members:
      members === undefined ? undefined : { isWhole: true, added: membersOf(members), removed: new Set<number>() },
  };
}

/** @throws DomainError `invalid_request` */
function checkSize(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null) return;
  const values: unknown[] = Object.values(value);
  if (values.length > MAX_ENTRIES || depth > MAX_DEPTH)
    throw scimFault('invalidValue', `Attributes have at most ${MAX_ENTRIES} values and ${MAX_DEPTH} levels`);
  for (const each of values) checkSize(each, depth + 1);
}

export interface Patch {
  /** For `scimmy`. */
  operations: Operation[];
  members: MemberChange | undefined;
}

/**
 * Prepares the operations of a PATCH for `scimmy`: Entra ID sends booleans as texts, and both Entra ID and Okta objects
 * without a path. Members are taken out, because `scimmy` builds an object with accessors for each member of the group,
 * and compares each with each to remove some.
 * @throws DomainError `invalid_request`
 */
export function readPatch(resource: ResourceName, body: Readonly<Record<string, unknown>>): Patch {
  const { Operations: list } = body;
  const operations = Array.isArray(list) && list.length <= MAX_OPERATIONS ? list.flatMap(pathsOf) : [];
  if (operations.length === 0 || operations.length > MAX_OPERATIONS)
    throw scimFault('invalidSyntax', `Operations must be a list of 1 to ${MAX_OPERATIONS} operations`);
  const kept: Operation[] = [];
  const members = { isWhole: false, added: new Set<number>(), removed: new Set<number>() };
  let hasMembers = false;
  for (const operation of operations) {
    const { op, path, value } = operation;
    const attribute = attributeOf(path);
    if (resource === 'Groups' && attribute === 'members') {
      changeMembers(members, operation);
      hasMembers = true;
    } else if (!IGNORED.has(attribute) && !/^urn:/i.test(path)) {
      checkSize(value);
      kept.push({ op, path, value: withBooleans(path, value) });
    }
  }
  if (kept.length > MAX_ATTRIBUTE_OPERATIONS)
    throw scimFault(
      'invalidSyntax',
      `Operations must have at most ${MAX_ATTRIBUTE_OPERATIONS} that are not of members`,
    );
  return { operations: kept, members: hasMembers ? members : undefined };
}

/** An operation without a path is one for each property of its value. */
function pathsOf(operation: unknown): Operation[] {
  const { op, path, value } = isObject(operation) ? operation : {};
  const verb = typeof op === 'string' ? op.toLowerCase() : '';
  if (!['add', 'remove', 'replace'].includes(verb))
    throw scimFault('invalidSyntax', 'op must be add, remove or replace');
  if (typeof path === 'string') return [{ op: verb, path: path.replace(CORE, ''), value }];
  if (path !== undefined && path !== null) throw scimFault('invalidPath', 'path must be a text');
  if (verb === 'remove') throw scimFault('noTarget', 'remove needs a path');
  if (!isObject(value)) throw scimFault('invalidValue', 'value must be an object if there is no path');
  return Object.entries(value).map(([name, each]) => ({ op: verb, path: name.replace(CORE, ''), value: each }));
}

/** The attribute of a path, in lower case. @throws DomainError `invalid_request` */
function attributeOf(path: string): string {
  const [, attribute] = path.length > MAX_PATH_LENGTH ? [] : (PATH.exec(path) ?? []);
  if (attribute === undefined)
    throw scimFault('invalidPath', 'path must be an attribute, such as emails[type eq "work"].value');
  return attribute.toLowerCase();
}

/** Entra ID sends "False" and "True". */
const FLAG = /^(?:.*\.)?(?:active|primary)$/i;

function withBooleans(name: string, value: unknown): unknown {
  if (typeof value === 'string' && FLAG.test(name) && /^(?:true|false)$/i.test(value))
    return value.toLowerCase() === 'true';
  if (!Array.isArray(value)) return value;
  return value.map((item: unknown) => (isObject(item) ? withBooleansOf(item) : item));
}

const withBooleansOf = (body: Readonly<Record<string, unknown>>) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, withBooleans(name, value)]));

function changeMembers(
  members: { isWhole: boolean; added: Set<number>; removed: Set<number> },
  { op, path, value }: Operation,
): void {
  const [, named] = MEMBER.exec(path) ?? [];
  if (named === undefined && path.toLowerCase() !== 'members')
    throw scimFault('invalidPath', 'path must be members or members[value eq "…"]');
  if (named !== undefined && op !== 'remove') throw scimFault('mutability', 'A member can only be added or removed');
  if (op === 'replace' || (named === undefined && op === 'remove' && (value === undefined || value === null))) {
    members.isWhole = true;
    members.added.clear();
    members.removed.clear();
  }
  const [more, fewer] = op === 'remove' ? [members.removed, members.added] : [members.added, members.removed];
  for (const id of named === undefined ? membersOf(value) : [idOf(named)]) {
    more.add(id);
    fewer.delete(id);
  }
}

/**
 * Returns the users that a list of members names, or one member.
 * @throws DomainError `invalid_request`
 */
function membersOf(value: unknown): Set<number> {
  const list: unknown[] = value === undefined || value === null ? [] : [value].flat();
  if (list.length > MAX_MEMBERS) throw scimFault('invalidValue', `A group has at most ${MAX_MEMBERS} members`);
  const ids = list.map((member) => {
    const { value: id, type, $ref: reference } = isObject(member) ? member : {};
    if (typeof id !== 'string')
      throw scimFault('invalidValue', 'members must be objects with the ID of a user as value');
    if (String(type).toLowerCase() === 'group' || String(reference).includes('/Groups/'))
      throw scimFault('invalidValue', 'members must be users: groups have no groups');
    return idOf(id);
  });
  return new Set(ids);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
