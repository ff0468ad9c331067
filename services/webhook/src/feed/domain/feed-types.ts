import type { EventData, EventType, QUEUES, Scope } from '@tocsin/contracts';

/** The kinds of resources that the event feed has events of, and the scope that reads each (contract: Event feed). */
const SCOPES = {
  incident: 'incidents:read',
  service: 'services:read',
  team: 'teams:read',
  custom_field: 'custom_fields:read',
} as const satisfies Record<string, Scope>;

export type ResourceKind = keyof typeof SCOPES;

/** What the events of a type are about. */
interface Subject<Data> {
  kind: ResourceKind;
  id: (data: Data) => number;
}

/** Events of a timeline are about its incident: whoever follows an incident gets both in one order. */
const incident: Subject<{ incident: { id: number } }> = { kind: 'incident', id: (data) => data.incident.id };
/** The feed has no events of this type; ADR 30 has the reasons. */
const LEFT_OUT = null;

/**
 * Every type of events on the broker: what its events are about, or that the feed leaves them out. A new type has to be
 * added here, and a type of the feed to the bindings of its queue; otherwise this file does not compile.
 */
const feedTypes = {
  'incident.created': incident,
  'incident.updated': incident,
  'incident.archived': incident,
  'incident.restored': incident,
  'incident.imported': incident,
  'timeline_event.created': incident,
  'timeline_event.updated': incident,
  'timeline_event.deleted': incident,
  'service.changed': { kind: 'service', id: (data) => data.service.id },
  'team.changed': { kind: 'team', id: (data) => data.team.id },
  'custom-field.changed': { kind: 'custom_field', id: (data) => data.field.id },
  'user.changed': LEFT_OUT,
  'workspace.changed': LEFT_OUT,
  'audit.recorded': LEFT_OUT,
  'customer-impact.updated': LEFT_OUT,
  'investigation.run.updated': LEFT_OUT,
} as const satisfies { [Type in EventType]: Subject<EventData<Type>> | null };

type FeedTypes = typeof feedTypes;
/** A type of events in the feed. */
export type FeedType = { [Type in keyof FeedTypes]: FeedTypes[Type] extends null ? never : Type }[keyof FeedTypes];

type BoundType = (typeof QUEUES.webhookFeed)['bindings'][number];
/** `FeedType` if the feed's queue is bound to exactly the types of the feed, and nothing otherwise. */
type CompleteFeedType = [BoundType, FeedType] extends [FeedType, BoundType] ? FeedType : never;

/** The types of events in the feed, in the order of the documentation. */
export const FEED_TYPES: readonly CompleteFeedType[] = (Object.keys(feedTypes) as (keyof FeedTypes)[]).filter(
  (type): type is FeedType => feedTypes[type] !== LEFT_OUT,
);

const subjectOf = (type: FeedType) => feedTypes[type] as Subject<unknown>;

/** The scopes of which a key needs one to read the feed. */
export const FEED_SCOPES = Object.values(SCOPES);

export const RESOURCE_KINDS = Object.keys(SCOPES) as ResourceKind[];

/** The types of events that a key with these scopes may read. */
export const readableTypes = (scopes: readonly string[]): FeedType[] =>
  FEED_TYPES.filter((type) => scopes.includes(SCOPES[subjectOf(type).kind]));

/** The resource that an event is about, as the API writes it: `incident:12`. Undefined if the feed has no such events. */
export function resourceOf({ type, data }: { type: string; data: unknown }): string | undefined {
  const known = FEED_TYPES.find((candidate) => candidate === type);
  if (known === undefined) return undefined;
  const { kind, id } = subjectOf(known);
  return `${kind}:${id(data)}`;
}
