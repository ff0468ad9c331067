import { bytesOf } from '../../storage/domain/storage-quota.ts';
import type { Change } from './changes.ts';
import { shortenChanges } from './large-changes.ts';

/** What changes of an incident's properties and values store, in bytes, about. */
export interface ChangedBytes {
  /** For `checkStorage`. */
  growth: number;
  /** Of the new texts and values, and of the changelog entry. */
  written: number;
}

/**
 * The changelog keeps what a change replaces. So a change shrinks what is stored only if less remains with its entry;
 * otherwise all of its new texts and values are an addition.
 */
export function bytesOfChanges(changes: readonly Change[]): ChangedBytes {
  const entry = sumOf(shortenChanges(changes).changes.flatMap(({ from, to }) => [from, to]));
  const added = sumOf(changes.map(({ to }) => to));
  const net = added - sumOf(changes.map(({ from }) => from)) + entry;
  return { growth: net <= 0 ? net : added, written: added + entry };
}

const sumOf = (values: readonly unknown[]) =>
  values.reduce<number>((sum, value) => sum + (value === null || value === undefined ? 0 : bytesOf(value)), 0);
