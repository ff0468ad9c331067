import { currentRequest, type RequestWork } from '@tocsin/runtime';

/** The name that every restricted incident has. */
export const EVERY_RESTRICTED = ['*'] as const satisfies readonly string[];

/** The names by which the current request sees restricted incidents. */
export const currentViewer = (): readonly string[] => currentRequest()?.viewer ?? EVERY_RESTRICTED;

/** The restricted incidents that requests have read. */
const reads = new WeakMap<RequestWork, Set<number>>();

/** Notes which of these incidents are restricted, so that the log of accesses has them (`http/visible-routes.ts`). */
export function noteRead(incidents: readonly { id: number; restricted: boolean }[]): void {
  if (!incidents.some(({ restricted }) => restricted)) return;
  const request = currentRequest();
  if (request === undefined) return;
  const noted = reads.get(request) ?? new Set();
  reads.set(request, noted);
  for (const { id, restricted } of incidents) if (restricted) noted.add(id);
}

/** Returns what was noted in the current request, and forgets it. */
export function takeReads(): number[] {
  const request = currentRequest();
  const noted = request && reads.get(request);
  if (request === undefined || noted === undefined) return [];
  reads.delete(request);
  return [...noted];
}
