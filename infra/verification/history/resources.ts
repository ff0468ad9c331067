import {
  customFieldDefinition,
  followUpSnapshot,
  publishedIncident,
  serviceSnapshot,
  teamSnapshot,
  timelineEventSnapshot,
} from '@tocsin/schemas';

/** What API and feed both show of each kind of resource. */
const PROPERTIES = {
  incident: Object.keys(publishedIncident.shape),
  timeline_event: Object.keys(timelineEventSnapshot.shape),
  follow_up: Object.keys(followUpSnapshot.shape),
  service: Object.keys(serviceSnapshot.shape),
  team: Object.keys(teamSnapshot.shape),
  field: Object.keys(customFieldDefinition.shape),
} as const;

export type Kind = keyof typeof PROPERTIES;

/** A resource at one revision, as a response or an event shows it. */
export interface Version {
  /** Its workspace, kind and ID. */
  name: string;
  revision: number;
  /** Its properties as JSON: equal for equal versions. */
  text: string;
}

export type Json = Readonly<Record<string, unknown>>;

export const nameOf = (workspace: string, kind: Kind, id: unknown) => `${workspace} ${kind} ${String(id)}`;

export function versionOf(workspace: string, kind: Kind, resource: Json): Version {
  const shown: Json = 'human_id' in resource ? { ...resource, reference: resource['human_id'] } : resource;
  return {
    name: nameOf(workspace, kind, resource['id']),
    revision: Number(resource['revision']),
    text: JSON.stringify(PROPERTIES[kind].map((property) => sorted(shown[property] ?? null))),
  };
}

/** The order of members says nothing. */
const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .toSorted(([a], [b]) => (a < b ? -1 : 1))
          .map(([name, member]) => [name, sorted(member)]),
      )
    : value;

/** A property of a version. */
export const valueOf = (kind: Kind, { text }: Pick<Version, 'text'>, property: string): unknown =>
  (JSON.parse(text) as unknown[])[(PROPERTIES[kind] as readonly string[]).indexOf(property)];

/** The names of the kinds in bodies, paths and types of events, in the singular. */
const NAMES: Readonly<Record<string, Kind>> = {
  ...{ incident: 'incident', service: 'service', team: 'team', field: 'field', 'custom-field': 'field' },
  ...{ event: 'timeline_event', timeline_event: 'timeline_event', timeline: 'timeline_event' },
  ...{ follow_up: 'follow_up', 'follow-up': 'follow_up' },
};

export const kindNamed = (name: string): Kind | undefined => NAMES[name.replace(/s$/, '')];

/** The resources in the body of a response. */
export const resourcesIn = (body: Json): [Kind, Json][] =>
  Object.entries(body).flatMap(([member, value]) => {
    const kind = kindNamed(member);
    if (kind === undefined || typeof value !== 'object' || value === null) return [];
    return (Array.isArray(value) ? value : [value]).map((resource: Json): [Kind, Json] => [kind, resource]);
  });

export const versionsIn = (workspace: string, body: Json): Version[] =>
  resourcesIn(body).map(([kind, resource]) => versionOf(workspace, kind, resource));
