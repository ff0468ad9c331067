import type { WorkspaceContext } from '@tocsin/schemas';
import { fold, foldedKey } from '@tocsin/schemas';
import { visibleFrom } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Incident } from '../incidents/domain/incident.ts';
import { mostSimilar, type Scored } from './domain/similarity.ts';
import { readCompared, readSimilar, type SimilarIncident } from './store/similar-store.ts';

interface Compared extends Pick<Incident, 'title' | 'service'> {
  /** Of the incident itself, which is not similar to itself. */
  id?: number;
}

/** Returns the incidents that are most similar to one, the most similar first (contract: Relations). */
export async function findSimilar(
  database: Knex,
  { workspace, compared, now }: { workspace: WorkspaceContext; compared: Compared; now: Instant },
): Promise<(SimilarIncident & Pick<Scored, 'score'>)[]> {
  const serviceFolded = foldedKey(compared.service) || null;
  const from = visibleFrom(workspace.history_days, now);
  const candidates = await readCompared(database, workspace.id, { serviceFolded, from });
  const scored = mostSimilar(
    fold(compared.title),
    candidates
      .filter(({ id }) => id !== compared.id)
      .map(({ id, titleFolded, serviceFolded: service }) => ({
        ...{ id, titleFolded },
        isOfService: serviceFolded === null ? null : service === serviceFolded,
      })),
  );
  if (scored.length === 0) return [];
  const ids = scored.map(({ id }) => id);
  const byId = new Map((await readSimilar(database, workspace.id, ids)).map((incident) => [incident.id, incident]));
  return scored.flatMap(({ id, score }) => {
    const incident = byId.get(id);
    return incident === undefined ? [] : [{ ...incident, score }];
  });
}
