import type { TocsinEvent } from './event-types.ts';

/** Which resource an event is about, and how events of that resource are ordered. */
export interface Position {
  /** Such as `incident:17`; IDs are unique in an installation. */
  resource: string;
  /** Of two events of the resource, the one with the larger revision is newer; undefined: they have no order. */
  revision: number | undefined;
}

type Members = Record<string, unknown>;
type Rule = (data: Members, event: TocsinEvent) => { id: unknown; revision: unknown };

const idAndRevision = ({ id, revision }: Members) => ({ id, revision });
const members = (value: unknown): Members => (typeof value === 'object' && value !== null ? (value as Members) : {});

/** By the first word of the event type. */
const RULES: Readonly<Record<string, Rule>> = {
  incident: ({ incident }) => idAndRevision(members(incident)),
  // Every change of an incident's timeline raises the revision of the incident.
  timeline_event: ({ incident, timeline_event: event }) => ({
    id: members(event)['id'],
    revision: members(incident)['revision'],
  }),
  follow_up: ({ follow_up: followUp }) => idAndRevision(members(followUp)),
  service: ({ service }) => idAndRevision(members(service)),
  team: ({ team }) => idAndRevision(members(team)),
  'custom-field': ({ field }) => idAndRevision(members(field)),
  user: ({ user, version }) => ({ id: members(user)['id'], revision: version }),
  workspace: ({ version }, { workspace }) => ({ id: workspace.id, revision: version }),
  'customer-impact': ({ incident_id: id, as_of: asOf }) => ({ id, revision: Date.parse(String(asOf)) }),
  investigation: ({ incident_id: id, run_id: run }) => ({ id: `${String(id)}:${String(run)}`, revision: undefined }),
};

/** Of types about a part of what their first word names, with a revision of its own. */
const PARTS: Readonly<Record<string, { kind: string; rule: Rule }>> = {
  'incident.postmortem_changed': {
    kind: 'postmortem',
    rule: ({ incident, postmortem }) => ({ id: members(incident)['id'], revision: members(postmortem)['revision'] }),
  },
};

/** The resource of an event and its revision; undefined for a type without one. */
export function positionOf(event: TocsinEvent): Position | undefined {
  const word = event.type.slice(0, event.type.indexOf('.'));
  const { kind, rule } = PARTS[event.type] ?? { kind: word, rule: RULES[word] };
  const place = rule?.(members(event.data), event);
  if (place === undefined || (typeof place.id !== 'number' && typeof place.id !== 'string')) return undefined;
  const { id, revision } = place;
  return { resource: `${kind}:${id}`, revision: Number.isFinite(revision) ? (revision as number) : undefined };
}
