import { EVENTS, FEED_TYPES, type FeedType, type ResourceKind, type Scope } from '@tocsin/schemas';

/** The scope that reads the events about each kind of resource (contract: Event feed). */
const SCOPES = {
  incident: 'incidents:read',
  service: 'services:read',
  team: 'teams:read',
  custom_field: 'custom_fields:read',
} as const satisfies Record<ResourceKind, Scope>;

/** The scopes of which a key needs one to read the feed. */
export const FEED_SCOPES = Object.values(SCOPES);

export const RESOURCE_KINDS = Object.keys(SCOPES) as ResourceKind[];

/** The types of events that a key with these scopes may read. */
export const readableTypes = (scopes: readonly string[]): FeedType[] =>
  FEED_TYPES.filter((type) => scopes.includes(SCOPES[EVENTS[type].about]));

/** The resource that an event is about, as the API writes it: `incident:12`. Undefined if the feed has no such events. */
export function resourceOf({ type, data }: { type: string; data: unknown }): string | undefined {
  const feedType = FEED_TYPES.find((candidate) => candidate === type);
  if (feedType === undefined) return undefined;
  const { about } = EVENTS[feedType];
  const { id } = (data as Record<string, { id: number }>)[about === 'custom_field' ? 'field' : about] ?? {};
  return `${about}:${id}`;
}
