import { DomainError, invalidRequest } from '@tocsin/http';
import type { WorkflowStatus } from '../../configuration/domain/configuration.ts';
import type { ConfigurationLists } from '../../configuration/domain/configuration-document.ts';

/** What incidents get instead of a removed status or severity, by the removed key. */
export interface Replacements {
  statuses?: Readonly<Record<string, string>> | undefined;
  severities?: Readonly<Record<string, string>> | undefined;
}

/** The lists before and after a change. */
export interface ListChange {
  before: ConfigurationLists;
  after: ConfigurationLists;
}

/**
 * Checks that each replacement leads from a key that the change removes to one that stays or is new.
 * @throws DomainError `invalid_request` naming the replacement
 */
export function checkReplacements(replace: Replacements, { before, after }: ListChange): void {
  for (const list of ['statuses', 'severities'] as const) {
    const removed = removedKeys(before[list], after[list]);
    for (const [from, to] of Object.entries(replace[list] ?? {})) {
      const field = `replace.${list}.${from}`;
      if (!removed.includes(from)) throw invalidRequest(field, 'Is only allowed with a key that the request removes');
      if (after[list].every(({ key }) => key !== to)) throw invalidRequest(field, 'Must be a key of the new list');
    }
  }
}

/** Returns the keys that the new list lacks. */
export function removedKeys(before: readonly { key: string }[], after: readonly { key: string }[]): string[] {
  const kept = new Set(after.map(({ key }) => key));
  return before.map(({ key }) => key).filter((key) => !kept.has(key));
}

/** Returns the keys of the statuses that stay and become terminal, or stop being so. */
export const statusesWithOtherEnd = (before: readonly WorkflowStatus[], after: readonly WorkflowStatus[]): string[] =>
  after
    .filter(({ key, isTerminal }) => before.some((old) => old.key === key && old.isTerminal !== isTerminal))
    .map(({ key }) => key);

/** 409: `details` counts what has each removed entry. */
export const inUse = (field: string, message: string, details: Record<string, Record<string, number>>) =>
  new DomainError('invalid_resource_state', message, { field, details });

/**
 * Assigns IDs to groups without one: the ID of the existing group with the same name, so that applying a file twice changes
 * nothing, else a new ID.
 */
export function assignGroupIds(
  requested: readonly { id?: number | undefined; name: string }[],
  existing: readonly { id: number; name: string }[],
): { id: number; name: string }[] {
  const usedIds = new Set(requested.flatMap(({ id }) => id ?? []));
  const taken = new Set([...usedIds, ...existing.map(({ id }) => id)]);
  const newId = () => {
    let id = Math.max(0, ...taken) + 1;
    // A client may have given the last one.
    if (!Number.isSafeInteger(id)) for (id = 1; taken.has(id);) id += 1;
    taken.add(id);
    return id;
  };
  return requested.map(({ id, name }) => {
    const assigned = id ?? existing.find((group) => group.name === name && !usedIds.has(group.id))?.id ?? newId();
    usedIds.add(assigned);
    return { id: assigned, name };
  });
}
