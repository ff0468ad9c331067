import type { Envelope } from '@tocsin/contracts';
import { shortenValue } from '../../src/incidents/domain/large-value.ts';
import type { TimelineEventWire } from '../../src/timeline/http/wire.ts';
import type { IncidentWire } from '../../src/incidents/http/wire.ts';

/** What a consumer has: the newest state of each incident and timeline event, with the revision that it is from. */
export interface Replica {
  incidents: Map<number, { revision: number; state: object }>;
  events: Map<number, { revision: number; state: object | null }>;
}

/** @param isNewer tells whether an event of this revision replaces a state of that one */
export function replay(published: readonly Envelope[], isNewer: (revision: number, known: number) => boolean): Replica {
  const replica: Replica = { incidents: new Map(), events: new Map() };
  for (const { type, data } of published) {
    const { incident, timeline_event: event } = data as {
      incident: { id: number; revision: number };
      timeline_event?: { id: number };
    };
    const states: Map<number, { revision: number; state: object | null }> =
      event === undefined ? replica.incidents : replica.events;
    const { id } = event ?? incident;
    const known = states.get(id);
    if (known !== undefined && !isNewer(incident.revision, known.revision)) continue;
    const state = type === 'timeline_event.deleted' ? null : (event ?? incident);
    states.set(id, { revision: incident.revision, state });
  }
  return replica;
}

export const statesOf = (states: Map<number, { state: object | null }>) =>
  [...states.values()].map(({ state }) => state).filter((state) => state !== null);

/** An incident of the API as events have it. */
export function publishedForm({
  human_id: reference,
  company_id,
  duration_seconds,
  duration_anchor,
  investigation_summary,
  has_assignees,
  custom_fields: fields,
  meet_url,
  doc_url,
  ...rest
}: IncidentWire): object {
  const custom_fields = Object.fromEntries(Object.entries(fields).map(([slug, value]) => [slug, shortenValue(value)]));
  return { ...rest, reference, custom_fields, meet_url: shortenValue(meet_url), doc_url: shortenValue(doc_url) };
}

export function publishedEvent({ incident_id, at, comment_count, attachments, ...event }: TimelineEventWire): object {
  const { body, tags, ai_context, evidence_links, source_ref } = event;
  const texts = { body, tags, ai_context, evidence_links, source_ref };
  return {
    ...event,
    ...Object.fromEntries(Object.entries(texts).map(([name, value]) => [name, shortenValue<unknown>(value)])),
  };
}
