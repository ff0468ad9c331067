import { randomBytes } from 'node:crypto';
import { type IdempotencyKey, type KeyState, quotaExceeded } from '@tocsin/http';
import type { OutboxRow } from '@tocsin/messaging';
import { type Column, column, type SqlType } from '@tocsin/versioned-resources';
import { type Knex, query } from '@tocsin/postgres';
import { ownProperty } from '@tocsin/runtime';
import type { UnnumberedIncident } from '../../incidents/domain/incident.ts';
import type { FieldValue } from '../../values/domain/values.ts';
import { Retry } from '../../shared/domain/retry.ts';
import { INCIDENT_TABLE, toColumns, LIST_COLUMNS, type ListColumn } from '../../incidents/store/incident-row.ts';
import {
  insertProvisioning,
  type NewProvisioning,
  provisioningParameter,
} from '../../chat/store/provisioning-store.ts';
import { addReference, countedValue } from '../../incidents/store/service-references.ts';
import { toRecords, VALUE_COLUMNS, valueRows } from '../../values/store/value-row.ts';

/** Stand for the ID and the number, which the database assigns, in JSON texts that the same statement stores. */
export interface Placeholders {
  id: number;
  number: number;
}

export const newPlaceholders = (): Placeholders => ({ id: randomNumber(), number: randomNumber() });

/** Has 16 digits, which nobody can guess: a mebibyte of digits contains it once in four billion requests. */
const randomNumber = () => 2 ** 52 + Number(randomBytes(8).readBigUInt64BE() >> 12n);

export interface IncidentInsert {
  incident: UnnumberedIncident;
  /** The values in its `customFields`. */
  values: readonly FieldValue[];
  provisioning: NewProvisioning | undefined;
  /** The version of the configuration that status and severity were checked against. */
  configurationVersion: number;
  /** How many incidents the workspace may have; null: unlimited. */
  quota: number | null;
  placeholders: Placeholders;
  /** Its body contains placeholders. */
  event: OutboxRow;
  /** The response body, with placeholders, is stored with the key. */
  key: { key: IdempotencyKey; text: string } | undefined;
}

const LIST_COLUMN_TYPES = {
  title_folded: 'text',
  impact_summary_folded: 'text',
  service_folded: 'text',
  region_folded: 'text',
  region_keys: 'text[]',
  role_keys: 'text[]',
} as const satisfies Record<ListColumn, SqlType>;

/** The columns that the statement binds; the database assigns the other two. */
const COLUMNS: readonly Column[] = [
  ...Object.values(INCIDENT_TABLE).filter(({ name }) => name !== 'id' && name !== 'number'),
  ...LIST_COLUMNS.map((name) => column(name, LIST_COLUMN_TYPES[name])),
];
const COLUMN_NAMES = COLUMNS.map(({ name }) => name).join(', ');

const FIRST_COLUMN_PARAMETER = 10;
/** With types: a parameter in a select list has none of its own. */
const VALUES = COLUMNS.map(({ type }, index) => `$${index + FIRST_COLUMN_PARAMETER}::${type}`);

const WORKSPACE = '$6::bigint';
const QUOTA = '$8::bigint';

/** Replaces the placeholders in a text by the ID and the number of `created`. */
const filled = (parameter: string) =>
  `replace(replace(${parameter}::text, $1, created.id::text), $2, created.number::text)`;

/** Only in the statement if the incident has values: most incidents have none. */
const insertValues = (parameter: string) => `, inserted_values as (
    insert into incident_values (workspace_id, incident_id, ${VALUE_COLUMNS.join(', ')})
    select ${WORKSPACE}, created.id, ${VALUE_COLUMNS.map((column) => `value.${column}`).join(', ')}
    from created, ${valueRows(parameter)}
  )`;

/**
 * Writes a new incident in one statement and one round trip: the number (as late as possible, because the counter's row is
 * locked until the commit), the incident, its values, its provisioning, its service, its event and the outcome of its Idempotency-Key. It
 * writes nothing if the key is not free, the configuration has changed or the quota is used up: the condition of the conflict
 * sees the row as it is after locking, not as it was when the statement began. Incidents are never deleted, so the last
 * number is how many there are.
 */
const insertWith = (keyState: string) => `
  with idempotency_key as materialized (
    select ${keyState} as state
  ), numbered as (
    insert into incident_counters as counter (workspace_id, last, configuration_version)
    select ${WORKSPACE}, 1, $7::bigint
      where (select state from idempotency_key) = 'free' and coalesce(${QUOTA} > 0, true)
    on conflict (workspace_id) do update set last = counter.last + 1
      where counter.configuration_version = excluded.configuration_version and coalesce(counter.last < ${QUOTA}, true)
    returning last as number
  ), created as (
    insert into incidents (number, ${COLUMN_NAMES})
    select number, ${VALUES.join(', ')} from numbered
    returning id, number
  ), stored_event as (
    insert into outbox (message_id, workspace_id, type, body, trace_context)
    select $3::uuid, ${WORKSPACE}, $4, ${filled('$5')}, $9::text from created
  )`;

/** What the statement does with a key, and the parameters for it. */
interface KeyPart {
  name?: string;
  /** An expression for the `KeyState`. */
  state: string;
  sql: string;
  values: readonly unknown[];
}

const NO_KEY: KeyPart = { state: "'free'", sql: '', values: [] };

function keyPartOf({ key, text }: NonNullable<IncidentInsert['key']>, first: number): KeyPart {
  const { state, insert, values } = key.parts(first);
  const body = filled(`$${first + values.length}`);
  return {
    name: 'key',
    state,
    sql: `, stored_outcome as (${insert({ status: '201', body, revision: '1' })} from created)`,
    values: [...values, text],
  };
}

/** After the counter's row, so creates in a workspace do not wait for each other here. */
const countReference = (parameter: string) => `, counted_reference as (
    ${addReference({ workspace: WORKSPACE, value: parameter, from: 'from created' })}
  )`;

/** An optional part of the statement and its only parameter. */
interface OptionalPart {
  name: string;
  sql: (parameter: string) => string;
  value: string;
}

function optionalPartsOf({ incident, values, provisioning }: IncidentInsert): OptionalPart[] {
  const parts: OptionalPart[] = [];
  if (values.length > 0) {
    const set = { at: incident.createdAt, by: incident.createdBy };
    parts.push({ name: 'values', sql: insertValues, value: JSON.stringify(toRecords(values, set)) });
  }
  if (provisioning !== undefined) {
    const sql = (parameter: string) => insertProvisioning(parameter, WORKSPACE);
    parts.push({ name: 'provisioning', sql, value: provisioningParameter(provisioning) });
  }
  const service = countedValue(incident);
  if (service !== '') parts.push({ name: 'service', sql: countReference, value: service });
  return parts;
}

/**
 * Returns one row; if nothing was inserted, only `key_state` and `is_full` are set. `is_full` is as it was when the statement
 * began: it is false if another create has just used up the quota.
 */
const RESULT = `
  select created.id, created.number, (select state from idempotency_key) as key_state,
    ${QUOTA} is not null and (${QUOTA} = 0 or exists (
      select 1 from incident_counters where workspace_id = ${WORKSPACE} and last >= ${QUOTA})) as is_full
  from (select) as always left join created on true`;

interface CreatedIncident {
  id: number;
  number: number;
}

interface ResultRow {
  id: number | null;
  number: number | null;
  key_state: KeyState;
  is_full: boolean;
}

/**
 * @throws DomainError `invalid_resource_state` if the quota is used up
 * @throws Retry if the configuration has changed, or another create has just used up the quota; the next attempt reports that
 * @throws an error of `idempotently` if the key is not free
 */
export async function insertIncident(database: Knex, insert: IncidentInsert): Promise<CreatedIncident> {
  const { incident, configurationVersion, quota, placeholders, event, key } = insert;
  const columns = toColumns(incident);
  const parameters: unknown[] = [
    placeholders.id,
    placeholders.number,
    event.message_id,
    event.type,
    event.body,
    incident.workspaceId,
    configurationVersion,
    quota,
    event.trace_context,
    ...COLUMNS.map(({ name }) => ownProperty(columns, name) ?? null),
  ];
  const keyPart = key === undefined ? NO_KEY : keyPartOf(key, parameters.length + 1);
  parameters.push(...keyPart.values);
  const parts = optionalPartsOf(insert);
  const extra = parts.map(({ sql }, index) => sql(`$${parameters.length + 1 + index}`));
  const [result] = await query<ResultRow>(database, {
    name: ['insert-incident', keyPart.name ?? [], parts.map(({ name }) => name)].flat().join('-'),
    text: `${insertWith(keyPart.state)}${keyPart.sql}${extra.join('')}${RESULT}`,
    values: [...parameters, ...parts.map(({ value }) => value)],
  });
  key?.key.check(result?.key_state);
  if (result === undefined) throw new Retry('configuration');
  const { id, number, is_full: isFull } = result;
  if (id === null && quota !== null && isFull) throw quotaExceeded('incidents', `at most ${quota} incidents`);
  if (id === null || number === null) throw new Retry('configuration');
  return { id, number };
}
