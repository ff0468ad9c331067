import { COST_HEADER, invalidRequest, UnstorableItem, validate } from '@tocsin/http';
import { parseTimestamp } from '@tocsin/schemas';
import type { Instant } from '@tocsin/runtime';
import { humanId } from '../../incidents/domain/incident.ts';
import {
  type ImportItem,
  type ImportResult,
  type Refusal,
  toExternalId,
  type ImportedChange,
  type ImportedEvent,
  type ImportedFollowUp,
  type ImportedRelation,
  refusalOf,
} from '../domain/item.ts';
import { type ExportDependencies, exportLines } from '../export-incidents.ts';
import { type ImportDependencies, importIncidents } from '../import-incidents.ts';
import { importPicture } from '../import-picture.ts';
import type { TransferApi } from './contracts.ts';
import {
  type ImportResultWire,
  type ChangeItem,
  type FollowUpItem,
  type IncidentItem,
  incidentItem,
  type RelationItem,
  type TimelineEventItem,
} from './wire.ts';
import { toPostmortem } from './postmortem-item.ts';
import { toIncidentProperties } from '../../incidents/http/properties.ts';
import type { PictureDependencies } from '../../pictures/pictures.ts';
import { toFollowUpProperties } from '../../follow-ups/http/handlers.ts';
import { toTimelineProperties } from '../../timeline/http/properties.ts';

/** Timeline events, changelog entries, follow-ups and relations of one request. */
const MAX_PARTS_IN_ALL = 2_500;
/** Relations of one request: each is a change of two incidents. */
const MAX_RELATIONS_IN_ALL = 500;
/** As many cost as much as a write of one resource. */
const PARTS_OF_ONE_COST = 20;

/** contract: Import, Export */
export const transferHandlers = (
  dependencies: ImportDependencies & ExportDependencies & PictureDependencies,
): TransferApi => ({
  importIncidents: async ({ principal, requestId, body }) => {
    const items = body.incidents.map(readItem);
    const parts = items.reduce((sum, item) => sum + partsOf(item), 0);
    if (parts > MAX_PARTS_IN_ALL) {
      const message = `Must have at most ${MAX_PARTS_IN_ALL} timeline events, changelog entries, follow-ups and relations together`;
      throw invalidRequest('incidents', message);
    }
    const relations = items.reduce((sum, item) => sum + ('outcome' in item ? 0 : item.relations.length), 0);
    if (relations > MAX_RELATIONS_IN_ALL)
      throw invalidRequest('incidents', `Must have at most ${MAX_RELATIONS_IN_ALL} relations together`);
    const results = await importIncidents(dependencies, { principal, requestId, items });
    const written = results.filter(({ outcome }) => outcome === 'created' || outcome === 'updated').length;
    // The request itself costs 1.
    const cost = Math.max(0, written - 1) + Math.floor(parts / PARTS_OF_ONE_COST);
    return {
      body: { results: results.map(resultView) },
      headers: { [COST_HEADER]: String(cost) },
      assigned: assignedIn(results),
    };
  },
  importPicture: async ({ principal, requestId, query: { source, id, event, filename }, bytes }) => {
    const names = { externalId: toExternalId({ source, id }).trim(), eventExternalId: event.trim(), filename };
    return { body: await importPicture(dependencies, { principal, requestId, ...names, bytes }) };
  },
  exportIncidents: async ({ principal, query: { cursor }, waiting }) => ({
    lines: await exportLines(dependencies, { principal, cursor, waiting }),
  }),
});

const partsOf = (item: ImportItem | Refusal) =>
  'outcome' in item ? 0 : item.timeline.length + item.changelog.length + item.followUps.length + item.relations.length;

/** The IDs and references of incidents that the request creates, also in the results of their further parts. */
function assignedIn(results: readonly ImportResult[]): string[] {
  const created = new Set(results.flatMap((result) => (result.outcome === 'created' ? result.incident.id : [])));
  return results.flatMap((result, place) =>
    result.outcome === 'refused' || !created.has(result.incident.id)
      ? []
      : [`results.${place}.incident_id`, `results.${place}.human_id`],
  );
}

function resultView(result: ImportResult, index: number): ImportResultWire {
  if (result.outcome !== 'refused') {
    const { id, number, revision } = result.incident;
    const { outcome, notes } = result;
    return { index, outcome, incident_id: id, human_id: humanId(number), revision, ...(notes && { notes }) };
  }
  const { outcome, field, message } = result;
  const none = { incident_id: null, human_id: null, revision: null };
  return { index, outcome, ...none, ...(field !== undefined && { field }), message };
}

/** Reads an item of a request. */
function readItem(wire: unknown): ImportItem | Refusal {
  try {
    if (wire instanceof UnstorableItem) throw wire.fault;
    return toItem(validate(incidentItem, wire));
  } catch (error) {
    return refusalOf(error);
  }
}

/** The schema has checked the text. */
const instantOf = (text: string): Instant => parseTimestamp(text) as Instant;
const moment = (text: string | null | undefined) => (typeof text === 'string' ? instantOf(text) : text);

function toItem(wire: IncidentItem): ImportItem {
  const { external, author, created_at, created_by_key, first_acted_at, status_changed_at, archived_at, ...more } =
    wire;
  const { unhandled_alert, team, people = {}, moments = {}, values = {}, timeline = [], ...others } = more;
  const { changelog = [], follow_ups = [], relations = [], postmortem, ...named } = others;
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
    createdByKey: created_by_key,
    firstActedAt: moment(first_acted_at),
    statusChangedAt: moment(status_changed_at),
    archivedAt: moment(archived_at),
    isUnhandledAlert: unhandled_alert,
    team,
    manager: people.manager && toPerson(people.manager),
    responders: people.responders?.map(toPerson),
    roles:
      people.roles &&
      Object.fromEntries(Object.entries(people.roles).map(([key, holders]) => [key, holders.map(toPerson)] as const)),
    values,
    timeline: timeline.map(toEvent),
    changelog: changelog.map(toChange),
    followUps: follow_ups.map(toFollowUp),
    postmortem: postmortem && toPostmortem(postmortem, toPerson),
    relations: relations.map(toRelation),
  };
}

const toPerson = ({ name, email }: IncidentItem['author']) => ({ name: name.trim(), email });

function toEvent({
  external_id,
  author,
  created_by_key,
  group,
  source,
  source_ref,
  ...wire
}: TimelineEventItem): ImportedEvent {
  return {
    externalId: external_id.trim(),
    author: toPerson(author),
    createdByKey: created_by_key,
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

const toRelation = ({ type, external, author, created_at }: RelationItem): ImportedRelation => ({
  type,
  externalId: toExternalId(external).trim(),
  createdAt: instantOf(created_at),
  author: toPerson(author),
});

function toFollowUp(item: FollowUpItem): ImportedFollowUp {
  const { external_id, author, owner, created_at, completed_at, updated_at, ...wire } = item;
  return {
    externalId: external_id.trim(),
    author: toPerson(author),
    owner: owner && toPerson(owner),
    createdAt: instantOf(created_at),
    completedAt: moment(completed_at),
    updatedAt: updated_at === undefined ? undefined : instantOf(updated_at),
    properties: { ...toFollowUpProperties(wire), title: wire.title.trim() },
  };
}

const toChange = ({ changed_at, actor, api_key: key = null, changes }: ChangeItem): ImportedChange => ({
  changedAt: instantOf(changed_at),
  actor: toPerson(actor),
  key,
  changes,
});
