import { DomainError } from '@tocsin/http';
import { type Knex, pipeline } from '@tocsin/postgres';
import { boundedCache, estimateHeapBytes } from '@tocsin/runtime';
import type { Incident } from './domain/incident.ts';
import type { Decision } from './run-command.ts';
import { incidentStore, updateOfVersion, type VersionedIncident } from './store/incident-store.ts';

const KEPT_BYTES = 4 * 1_048_576;
const DIVISION_BY_ZERO = '22012';

/** Incidents as this process has read or written them last: an optimistic change need not read them again (ADR 104). */
export function keptIncidents(database: Knex) {
  const kept = boundedCache<number, VersionedIncident>({ bytes: KEPT_BYTES, sizeOf: estimateHeapBytes });
  return {
    /**
     * Decides on the incident as it is known at a revision, and stores that if it still is this version. Returns undefined
     * if the transaction has to decide, also about a refusal; then nothing is stored.
     */
    async change(
      { workspaceId, id, revision }: Pick<Incident, 'workspaceId' | 'id' | 'revision'>,
      decide: (before: Incident) => Decision<Incident>,
    ): Promise<Incident | undefined> {
      const keptVersion = kept.get(id);
      const isKnown = keptVersion?.workspaceId === workspaceId && keptVersion.revision === revision;
      const before = isKnown ? keptVersion : await incidentStore(database, workspaceId).find(id);
      // Whether the request may see a restricted one, only the database says.
      if (before?.revision !== revision || before.restricted) return undefined;
      try {
        const decision = decide(before);
        if (!('answer' in decision)) return undefined;
        // The first one updates the incident.
        const [update, ...others] = decision.stores;
        if (update === undefined) return undefined;
        const [[version]] = await pipeline(database, [updateOfVersion(update, before), ...others]);
        const after = { ...decision.answer([]), ...(version as Pick<VersionedIncident, 'xmin'>) };
        kept.set(id, after);
        return after;
      } catch (error) {
        if (error instanceof DomainError || (error as { code?: unknown }).code === DIVISION_BY_ZERO) return undefined;
        throw error;
      }
    },
  };
}

export type KeptIncidents = ReturnType<typeof keptIncidents>;
