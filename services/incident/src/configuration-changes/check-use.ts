import type { Knex } from '@tocsin/postgres';
import { configurationChanges } from '../configuration/store/configuration-changes.ts';
import { timelineGroupStore } from '../timeline/store/timeline-group-store.ts';
import { inUse, type ListChange, removedKeys, type Replacements } from './domain/replacements.ts';

const LISTS = {
  status: { list: 'statuses', field: 'workflow_statuses' },
  severity: { list: 'severities', field: 'severities' },
} as const;

/**
 * Refuses to remove statuses and severities that incidents, archived ones included, have and that nothing replaces, and
 * groups with timeline events.
 * @throws DomainError `invalid_resource_state`, which counts what has each of them
 */
export async function checkUse(
  trx: Knex.Transaction,
  { workspaceId, before, after, replace }: ListChange & { workspaceId: number; replace: Replacements },
): Promise<void> {
  const unmapped = (list: 'statuses' | 'severities') =>
    removedKeys(before[list], after[list]).filter((key) => !Object.hasOwn(replace[list] ?? {}, key));
  const uses = await configurationChanges(trx, workspaceId).countUses({
    status: unmapped('statuses'),
    severity: unmapped('severities'),
  });
  const [first] = uses;
  if (first !== undefined) {
    const counts = (column: keyof typeof LISTS) => uses.filter(({ field }) => field === column);
    const details = Object.fromEntries(
      (Object.keys(LISTS) as (keyof typeof LISTS)[])
        .filter((column) => counts(column).length > 0)
        .map((column) => [
          LISTS[column].list,
          Object.fromEntries(counts(column).map(({ key, count }) => [key, count])),
        ]),
    );
    const message = `The ${first.field} ${first.key} cannot be removed: incidents have it (${first.count}, archived ones included)`;
    throw inUse(LISTS[first.field].field, message, details);
  }

  const kept = new Set(after.groups.map(({ id }) => id));
  const removed = before.groups.filter(({ id }) => !kept.has(id));
  const used = await timelineGroupStore(trx, workspaceId).countEvents(removed.map(({ id }) => id));
  const [group] = used;
  if (group === undefined) return;
  const name = removed.find(({ id }) => id === group.id)?.name ?? '';
  throw inUse(
    'timeline_groups',
    `The group ${group.id} (${name}) cannot be removed: it has timeline events (${group.count})`,
    { timeline_groups: Object.fromEntries(used.map(({ id, count }) => [String(id), count])) },
  );
}
