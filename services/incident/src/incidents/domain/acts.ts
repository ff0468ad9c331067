import { isSession, type RecordedKey } from '@tocsin/schemas';
import type { Incident } from './incident.ts';

/** The key of an entry of the changelog. */
export const keyOf = (entry: { keyName: string | null; keyPrefix: string | null }): RecordedKey | null =>
  entry.keyName === null || entry.keyPrefix === null ? null : { name: entry.keyName, prefix: entry.keyPrefix };

/**
 * Whether a change is the act of a person who did not declare the incident (contract: Incident statistics): a session or
 * a key other than what declared it. Whoever declared it in a session is the same person in another one, or with a key.
 * A rotated key keeps its name. Nobody knows what declared an incident of an earlier release, or of an import.
 */
export function isActOfAnother(
  { createdBy, createdByKey }: Pick<Incident, 'createdBy' | 'createdByKey'>,
  { actor, key }: { actor: string; key: RecordedKey | undefined },
): boolean {
  if (key === undefined || createdByKey === null) return false;
  if (actor !== createdBy) return true;
  if (isSession(createdByKey)) return false;
  return isSession(key) || (key.name !== createdByKey.name && key.prefix !== createdByKey.prefix);
}
