import type { Envelope } from '@tocsin/schemas';
import type { History, Operation } from './history.ts';
import { type Json, type Kind, kindNamed, type Version, versionOf } from './resources.ts';

/** A change of one resource, as the feed tells it. */
export interface Change extends Version {
  kind: Kind;
  event: Envelope;
  /** The incident of a timeline event, after the change. */
  incident: { id: number; revision: number } | undefined;
  isDeletion: boolean;
  /** Undefined: no request of the run has this ID. */
  by: Operation | undefined;
}

/** What the feed of a workspace says, by resources and by requests. */
export interface Facts {
  changes: readonly Change[];
  /** Of one resource, in the order of the feed. */
  of(name: string): readonly Change[];
  at(name: string, revision: number): Change | undefined;
  by(operation: Operation): readonly Change[];
  names(): Iterable<string>;
  /**
   * Which revisions of a resource a response may show: at least the newest that somebody knew before the request, at most
   * the newest whose own request had begun.
   */
  bounds(name: string, request: Pick<Operation, 'start' | 'end'>): { least: number; most: number };
}

export function factsOf(history: Pick<History, 'operations' | 'seen'>, feed: readonly Envelope[]): Facts {
  const operations = new Map(history.operations.map((operation) => [operation.id, operation]));
  const changes = feed.map((event): Change => {
    const data = event.data as Readonly<Record<string, Json | undefined>>;
    const kind = kindNamed(event.type.split('.')[0] ?? '') ?? 'incident';
    return {
      ...versionOf(event.workspace.slug, kind, data[kind] ?? {}),
      ...{ kind, event, by: operations.get(event.request_id ?? '') },
      incident: kind === 'timeline_event' ? (data['incident'] as unknown as Change['incident']) : undefined,
      isDeletion: event.type.endsWith('.deleted'),
    };
  });
  const byName = Map.groupBy(changes, ({ name }) => name);
  const byRequest = Map.groupBy(changes, ({ by }) => by?.id ?? '');
  const of = (name: string) => byName.get(name) ?? [];

  /** For each revision the place at which somebody first knew it, or a later one. */
  const placesByName = new Map<string, number[]>();
  const knownOf = (name: string): number[] => {
    const present = placesByName.get(name);
    if (present !== undefined) return present;
    let first = Infinity;
    const places = of(name)
      .toReversed()
      .map(({ revision, by, isDeletion }) => {
        const acknowledged = by?.outcome === 'done' && !isDeletion ? by.end : Infinity;
        first = Math.min(first, acknowledged, history.seen.get(name)?.get(revision)?.by.end ?? Infinity);
        return first;
      })
      .toReversed();
    placesByName.set(name, places);
    return places;
  };
  return {
    changes,
    of,
    at: (name, revision) => of(name).find((change) => change.revision === revision && !change.isDeletion),
    by: ({ id }) => byRequest.get(id) ?? [],
    names: () => byName.keys(),
    bounds: (name, { start, end }) => {
      const chain = of(name);
      const newest = (isPossible: (change: Change, index: number) => boolean) =>
        chain[chain.findLastIndex((change, index) => isPossible(change, index))]?.revision ?? 0;
      const places = knownOf(name);
      return {
        least: newest((_, index) => (places[index] ?? Infinity) < start),
        most: newest(({ by }) => by === undefined || by.start < end),
      };
    },
  };
}
