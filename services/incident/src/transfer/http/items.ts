import { parseTimestamp } from '@tocsin/contracts';
import { validate } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import { toTimelineProperties } from '../../timeline/http/properties.ts';
import { toExternalId } from '../domain/external.ts';
import { type ImportedChange, type ImportedEvent, type ImportItem, type Refusal, refusalOf } from '../domain/item.ts';
import { type ChangeItem, type IncidentItem, incidentItem, type TimelineEventItem } from './wire.ts';

/** Reads an item of a request. */
export function readItem(wire: unknown): ImportItem | Refusal {
  try {
    return toItem(validate(incidentItem, wire));
  } catch (error) {
    return refusalOf(error);
  }
}

/** The schema has checked the text. */
const instantOf = (text: string): Instant => parseTimestamp(text) as Instant;
const moment = (text: string | null | undefined) => (typeof text === 'string' ? instantOf(text) : text);

function toItem(wire: IncidentItem): ImportItem {
  const { external, author, created_at, status_changed_at, archived_at, team, ...rest } = wire;
  const { people = {}, moments = {}, values = {}, timeline = [], changelog = [], ...named } = rest;
  const { title, status, severity } = named;
  return {
    externalId: toExternalId(external).trim(),
    externalUrl: external.url,
    properties: {
      ...toIncidentProperties(named),
      ...toIncidentProperties(moments),
      ...{ title: title.trim(), status, severity },
    },
    createdAt: instantOf(created_at),
    author: toPerson(author),
    statusChangedAt: moment(status_changed_at),
    archivedAt: moment(archived_at),
    team,
    manager: people.manager && toPerson(people.manager),
    responders: people.responders?.map(toPerson),
    values,
    timeline: timeline.map(toEvent),
    changelog: changelog.map(toChange),
  };
}

const toPerson = ({ name, email }: IncidentItem['author']) => ({ name: name.trim(), email });

function toEvent({ external_id, author, group, source, source_ref, ...wire }: TimelineEventItem): ImportedEvent {
  return {
    externalId: external_id.trim(),
    author: toPerson(author),
    properties: {
      ...toTimelineProperties(wire),
      type: wire.type.trim(),
      startedAt: instantOf(wire.started_at),
      body: wire.body,
    },
    group,
    source,
    sourceRef: source_ref,
  };
}

const toChange = ({ changed_at, actor, changes }: ChangeItem): ImportedChange => ({
  changedAt: instantOf(changed_at),
  actor: toPerson(actor),
  changes,
});
