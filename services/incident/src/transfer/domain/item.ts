import { DomainError } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import type { Change } from '../../incidents/domain/changes.ts';
import type { Incident, IncidentProperties } from '../../incidents/domain/incident.ts';
import type { TimelineEventProperties } from '../../timeline/domain/timeline-event.ts';
import type { Person } from './person.ts';

/** An incident to import. What is absent, a new incident has by default, and another one keeps. */
export interface ImportItem {
  externalId: string;
  externalUrl: string | undefined;
  properties: Partial<IncidentProperties> & Pick<IncidentProperties, 'title' | 'status' | 'severity'>;
  createdAt: Instant;
  author: Person;
  statusChangedAt: Instant | null | undefined;
  archivedAt: Instant | null | undefined;
  /** The slug. */
  team: string | null | undefined;
  manager: Person | null | undefined;
  responders: readonly Person[] | undefined;
  /** By the slugs of their fields; null for none. */
  values: Readonly<Record<string, unknown>>;
  timeline: readonly ImportedEvent[];
  changelog: readonly ImportedChange[];
}

export interface ImportedEvent {
  externalId: string;
  author: Person;
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
  changes: readonly Change[];
}

/** Why an item is not imported. */
export interface Refusal {
  outcome: 'refused';
  field: string | undefined;
  message: string;
}

/** The codes of errors about one item. */
const REFUSALS: ReadonlySet<string> = new Set(['invalid_request', 'unknown_field', 'invalid_resource_state']);

/** Returns why an item is refused. @throws any other error, which is about the whole request */
export function refusalOf(error: unknown): Refusal {
  if (!(error instanceof DomainError) || !REFUSALS.has(error.code)) throw error;
  return { outcome: 'refused', field: error.field, message: error.message };
}

/** What became of an item. */
export type ImportResult =
  | { outcome: 'created' | 'updated' | 'unchanged'; incident: Pick<Incident, 'id' | 'number' | 'revision'> }
  | Refusal;

/** Everybody whom an item names. */
export const peopleOf = ({ author, manager, responders, timeline, changelog }: ImportItem): Person[] => [
  author,
  ...(manager ? [manager] : []),
  ...(responders ?? []),
  ...timeline.map((event) => event.author),
  ...changelog.map(({ actor }) => actor),
];
