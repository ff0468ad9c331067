import { DomainError, type DocumentLimits } from '@tocsin/http';
import type { RecordedKey } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import type { Incident, IncidentProperties } from '../../incidents/domain/incident.ts';
import type { FollowUp, FollowUpProperties } from '../../follow-ups/domain/follow-up.ts';
import type { WrittenPostmortem } from '../../postmortem/domain/written.ts';
import type { RelationType } from '../../relations/domain/relation.ts';
import type { TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';

/** An incident to import. What is absent, a new incident has by default, and another one keeps. */
export interface ImportItem {
  externalId: string;
  externalUrl: string | undefined;
  properties: Partial<IncidentProperties> & Pick<IncidentProperties, 'title' | 'status' | 'severity'>;
  createdAt: Instant;
  author: Person;
  createdByKey: RecordedKey | null | undefined;
  firstActedAt: Instant | null | undefined;
  statusChangedAt: Instant | null | undefined;
  archivedAt: Instant | null | undefined;
  isUnhandledAlert: boolean | undefined;
  /** The slug. */
  team: string | null | undefined;
  manager: Person | null | undefined;
  responders: readonly Person[] | undefined;
  /** By the keys of their roles. */
  roles: Readonly<Record<string, readonly Person[]>> | undefined;
  /** By the slugs of their fields; null for none. */
  values: Readonly<Record<string, unknown>>;
  timeline: readonly ImportedEvent[];
  changelog: readonly ImportedChange[];
  followUps: readonly ImportedFollowUp[];
  postmortem: ImportedPostmortem | undefined;
  relations: readonly ImportedRelation[];
}

export interface ImportedEvent {
  externalId: string;
  author: Person;
  createdByKey: RecordedKey | null | undefined;
  properties: Partial<Omit<TimelineEventProperties, 'groupId'>> &
    Pick<TimelineEventProperties, 'type' | 'startedAt' | 'body'>;
  /** The name. */
  group: string | null | undefined;
  source: string | undefined;
  sourceRef: string | undefined;
}

export interface ImportedChange {
  changedAt: Instant;
  actor: Person;
  key: RecordedKey | null;
  changes: readonly Change[];
}

/** A relation to another incident, as the incident of the item sees it. */
export interface ImportedRelation {
  type: RelationType;
  /** Of the other incident. */
  externalId: string;
  createdAt: Instant;
  author: Person;
}

export interface ImportedFollowUp extends Pick<FollowUp, 'createdAt'> {
  externalId: string;
  author: Person;
  owner: Person | null | undefined;
  completedAt: Instant | null | undefined;
  updatedAt: Instant | undefined;
  properties: Partial<Omit<FollowUpProperties, 'owner'>> & Pick<FollowUpProperties, 'title'>;
}

export interface ImportedPostmortem extends Pick<
  WrittenPostmortem,
  'state' | 'sections' | 'createdAt' | 'updatedAt' | 'inReviewAt' | 'publishedAt'
> {
  author: Person;
  updatedBy: Person;
  inReviewBy: Person | null;
  publishedBy: Person | null;
}

/** Why an item is not imported. */
export interface Refusal {
  outcome: 'refused';
  field: string | undefined;
  message: string;
}

/** The codes of errors about one item. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid_request', 'unknown_field', 'invalid_resource_state']);

export const isRefusal = (error: unknown): error is DomainError =>
  error instanceof DomainError && REFUSALS.has(error.code);

/** Returns why an item is refused. @throws any other error, which is about the whole request */
export function refusalOf(error: unknown): Refusal {
  if (!isRefusal(error)) throw error;
  return { outcome: 'refused', field: error.field, message: error.message };
}

/** A part of an item that is left out. */
interface Note {
  field: string;
  message: string;
}

/** What became of an item. */
export type ImportResult =
  | {
      outcome: 'created' | 'updated' | 'unchanged';
      incident: Pick<Incident, 'id' | 'number' | 'revision'>;
      /** What is left out, and why. */
      notes?: Note[];
    }
  | Refusal;

/** Everybody whom an item names. */
export const peopleOf = ({
  author,
  manager,
  responders,
  roles = {},
  timeline,
  changelog,
  ...parts
}: ImportItem): Person[] => [
  author,
  ...(manager ? [manager] : []),
  ...(responders ?? []),
  ...Object.values(roles).flat(),
  ...timeline.map((event) => event.author),
  ...changelog.map(({ actor }) => actor),
  ...parts.followUps.flatMap((followUp) => [followUp.author, ...(followUp.owner ? [followUp.owner] : [])]),
  ...parts.relations.map((relation) => relation.author),
  ...(parts.postmortem === undefined ? [] : peopleOfPostmortem(parts.postmortem)),
];

const peopleOfPostmortem = ({ author, updatedBy, inReviewBy, publishedBy }: ImportedPostmortem): Person[] =>
  [author, updatedBy, inReviewBy, publishedBy].filter((person) => person !== null);

/** Items of one request. */
export const MAX_ITEMS = 50;
/** Timeline events, changelog entries, follow-ups or relations of one item; a line of an export has as many of all. */
export const MAX_PARTS = 500;
/** The values of an item, and the changes of an entry: those of a request with all values, and of all properties. */
export const MAX_CHANGES = 1_100;

/**
 * An item has what several requests may have made, further inside: a value as nested and as complex as a request can set
 * one, or the changes of a request from such values to such values. ADR 63 has the sums.
 */
export const IMPORT_DOCUMENT = {
  complexity: 300_000,
  depth: 106,
  items: { of: 'incidents', max: MAX_ITEMS },
} as const satisfies DocumentLimits;

/** The levels of a value that a request can set, as a default of a field. */
const MAX_VALUE_DEPTH = 99;

/** Whether an import may bring a value: an export could not have it deeper. */
export const isShallow = (value: unknown, levels = MAX_VALUE_DEPTH): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)));

/** Names an incident in another system: the system, and the incident's ID there. */
interface External {
  source: string;
  id: string;
}

/** The source of external IDs that name none, as a client may set them. */
const NO_SOURCE = 'external_id';
/** The source of incidents that have no external ID. */
const OWN_SOURCE = 'tocsin';

const SOURCE = '[a-z0-9][a-z0-9_-]{0,31}';
export const SOURCE_PATTERN = new RegExp(`^${SOURCE}$`);
const WITH_SOURCE = new RegExp(`^(${SOURCE}):(.+)$`, 's');

/** The external ID of a timeline event or a follow-up that has none. */
export const ownIdOf = (id: number) => `${OWN_SOURCE}:${id}`;

/** The opposite of `ownIdOf`; null for another external ID. */
export function nativeIdOf(externalId: string): number | null {
  const [source, id] = externalId.split(':', 2);
  return source === OWN_SOURCE && /^[1-9]\d{0,14}$/.test(id ?? '') && externalId === ownIdOf(Number(id))
    ? Number(id)
    : null;
}

/** Returns the external ID of an incident that is imported from a source (ADR 63): `dispatch:214`. */
export const toExternalId = ({ source, id }: External): string => (source === NO_SOURCE ? id : `${source}:${id}`);

/** The opposite of `toExternalId`; without an external ID, the incident is named by its own reference. */
export function externalOf(
  externalId: string | null,
  incidentName: { workspace: string; reference: string },
): External {
  if (externalId === null) return { source: OWN_SOURCE, id: `${incidentName.workspace}/${incidentName.reference}` };
  const [, source = NO_SOURCE, id = ''] = WITH_SOURCE.exec(externalId) ?? [];
  return source === NO_SOURCE ? { source, id: externalId } : { source, id };
}

/** Somebody who took part in an incident. */
export interface Person {
  name: string;
  email?: string | undefined;
}

/** An address as it can stand behind a name. */
export const EMAIL = /^[^<>\s@]+@[^<>\s@]+$/;
const MAILBOX = /^(.+) <([^<>\s@]+@[^<>\s@]+)>$/s;

/** The ID of a user as text, which no name may be. */
export const USER_ID = /^[1-9]\d*$/;

/** What an incident has for a person: the ID of the user with the address, or the name, and behind it the address. */
export function textOfPerson({ name, email }: Person, userIds: ReadonlyMap<string, number>): string {
  if (email === undefined) return name;
  const userId = userIds.get(email.toLowerCase());
  return userId === undefined ? `${name} <${email}>` : String(userId);
}

/** The opposite of `textOfPerson`. */
export function personOf(text: string, users: ReadonlyMap<number, Person>): Person {
  const user = USER_ID.test(text) ? users.get(Number(text)) : undefined;
  if (user !== undefined) return user;
  const [, name = text, email] = MAILBOX.exec(text) ?? [];
  return { name, ...(email !== undefined && { email }) };
}
