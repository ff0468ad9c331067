import { invalidRequest } from '@tocsin/http';

const MAX_OF_ONE = 2;

/** @throws DomainError `invalid_request` naming the item with which an incident occurs too often */
export function checkRepetitions(items: readonly unknown[]): void {
  const counts = new Map<unknown, number>();
  for (const [index, item] of items.entries()) {
    const { id } = (item ?? {}) as { id?: unknown };
    const count = (counts.get(id) ?? 0) + 1;
    if (typeof id === 'number' && count > MAX_OF_ONE) {
      throw invalidRequest(`items.${index}.id`, `Must not occur more than ${MAX_OF_ONE} times`);
    }
    counts.set(id, count);
  }
}
