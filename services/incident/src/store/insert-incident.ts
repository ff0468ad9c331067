import { randomBytes } from 'node:crypto';
import { claimLost } from '@tocsin/http';
import type { OutboxRow } from '@tocsin/messaging';
import { type Knex, named } from '@tocsin/runtime';
import type { UnnumberedIncident } from '../domain/incident.ts';
import type { FieldValue } from '../domain/values.ts';
import { INCIDENT_COLUMNS, type IncidentRow, toColumns } from './incident-row.ts';
import { insertProvisioning, type NewProvisioning, provisioningJson } from './insert-provisioning.ts';
import { LIST_COLUMNS, type ListColumn } from './list-columns.ts';
import { toRecord, VALUE_COLUMNS, valueRows } from './value-row.ts';

/**
 * Stands for an ID and a number that only the inserting statement knows, in JSON texts that it stores with the incident.
 * Unguessable, so that no text of a client's can be taken for it.
 */
export interface Placeholders {
  id: string;
  number: string;
}

export const placeholders = (): Placeholders => {
  const secret = randomBytes(12).toString('hex');
  return { id: `id-${secret}`, number: `number-${secret}` };
};

/** Puts the real ID (a bare JSON number) and number into a text made with placeholders. */
export const fill = (text: string, blank: Placeholders, real: { id: number; number: number }): string =>
  text.replaceAll(`"${blank.id}"`, String(real.id)).replaceAll(blank.number, String(real.number));

export interface Insertion {
  incident: UnnumberedIncident;
  /** What its `customFields` hold. */
  values: readonly FieldValue[];
  provisioning: NewProvisioning | undefined;
  blank: Placeholders;
  /** Its body is made with placeholders. */
  event: OutboxRow;
  /** With an Idempotency-Key: who holds the claim, and the answer's text, made with placeholders. */
  claim: { token: string; text: string } | undefined;
}

const COLUMNS = [...INCIDENT_COLUMNS.filter((column) => column !== 'id' && column !== 'number'), ...LIST_COLUMNS];

/** A parameter in a select list has no type of its own. */
const TYPES: Partial<Record<keyof IncidentRow | ListColumn, string>> = {
  ...typed('bigint', ['workspace_id', 'revision', 'team_id', 'event_count', 'run_count', 'archived_by']),
  ...typed('timestamptz', [
    'status_changed_at',
    'impact_started_at',
    'first_reported_at',
    'first_responded_at',
    'recovered_at',
    'ended_at',
    'last_event_at',
    'created_at',
    'archived_at',
  ]),
  ...typed('text[]', ['regions', 'incident_responders', 'region_keys']),
  ...typed('jsonb', ['custom_fields', 'latest_run']),
};

const FIRST = 8;
const VALUES = COLUMNS.map((column, index) => `$${index + FIRST}::${TYPES[column] ?? 'text'}`);
const ANSWER = `$${COLUMNS.length + FIRST}::text`;

const WORKSPACE = '$7::bigint';

/** Parts that only some incidents need: the statement of most does not even open their tables. */
const insertValues = (parameter: string) => `, valued as (
    insert into incident_values (workspace_id, incident_id, ${VALUE_COLUMNS.join(', ')})
    select ${WORKSPACE}, created.id, ${VALUE_COLUMNS.map((column) => `value.${column}`).join(', ')}
    from created, ${valueRows(parameter)}
  )`;

/**
 * Everything that a new incident writes, in one statement and one round trip: the number (last of all, for its row is
 * locked until the commit), the incident, its values, its provisioning, its event, and the outcome of its Idempotency-Key. Nothing
 * is written when the claim is lost.
 */
const INSERT = `
  with held as (
    select 1 from idempotency_keys where token = $1::uuid and state = 'claimed' for update
  ), numbered as (
    insert into incident_counters as counter (workspace_id, last)
    select ${WORKSPACE}, 1 where $1::uuid is null or exists (select 1 from held)
    on conflict (workspace_id) do update set last = counter.last + 1
    returning last as number
  ), created as (
    insert into incidents (number, ${COLUMNS.join(', ')})
    select number, ${VALUES.join(', ')} from numbered
    returning id, number
  ), announced as (
    insert into outbox (message_id, type, body)
    select $4::uuid, $5, replace(replace($6::text, '"' || $2 || '"', id::text), $3, number::text) from created
  ), concluded as (
    update idempotency_keys set state = 'finished', status = 201, revision = 1,
      body = replace(replace(${ANSWER}, '"' || $2 || '"', created.id::text), $3, created.number::text)
    from created where token = $1::uuid
  )`;

/** A part of the statement, and the JSON of the one parameter that it takes. */
interface Part {
  name: string;
  sql: (parameter: string) => string;
  json: string;
}

function partsOf({ incident, values, provisioning }: Insertion): Part[] {
  const parts: Part[] = [];
  if (values.length > 0) {
    const set = { at: incident.createdAt, by: incident.createdBy };
    const json = JSON.stringify(values.map((value) => toRecord(value, set)));
    parts.push({ name: 'values', sql: insertValues, json });
  }
  if (provisioning !== undefined) {
    const sql = (parameter: string) => insertProvisioning(parameter, WORKSPACE);
    parts.push({ name: 'provisioning', sql, json: provisioningJson(provisioning) });
  }
  return parts;
}

interface Created {
  id: number;
  number: number;
}

/** @throws DomainError `idempotency_in_progress` when another request took the claim over */
export async function insertIncident(database: Knex, insertion: Insertion): Promise<Created> {
  const { incident, blank, event, claim } = insertion;
  const columns = toColumns(incident);
  const parameters = [
    claim?.token ?? null,
    blank.id,
    blank.number,
    event.message_id,
    event.type,
    event.body,
    incident.workspaceId,
    ...COLUMNS.map((column) => columns[column] ?? null),
    claim?.text ?? null,
  ];
  const parts = partsOf(insertion);
  const extra = parts.map(({ sql }, index) => sql(`$${parameters.length + 1 + index}`));
  const [created] = await named<Created>(
    database,
    ['insert-incident', ...parts.map(({ name }) => name)].join('-'),
    `${INSERT}${extra.join('')} select id, number from created`,
    [...parameters, ...parts.map(({ json }) => json)],
  );
  if (created === undefined) throw claimLost();
  return created;
}

function typed(type: string, columns: (keyof IncidentRow | ListColumn)[]) {
  return Object.fromEntries(columns.map((column) => [column, type]));
}
