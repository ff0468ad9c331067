import { randomUUID } from 'node:crypto';
import type { Clock, Instant } from '@tocsin/runtime';
import type { Client } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import type { IncidentWire } from '../../src/incidents/http/wire.ts';
import type { TestService } from '../service.ts';
import { DEFINITIONS, type FieldSlug, SERVICES, TEAMS } from './world.ts';
import { aUser } from '../snapshots.ts';

/** A clock that stands still until it is set. */
export interface SetClock extends Clock {
  set(now: Instant): void;
}

export function setClock(now: Instant): SetClock {
  let current = now;
  return { now: () => current, set: (next) => void (current = next) };
}

/** An incident as the API shows it, and the data that only lists use. */
export interface Listed {
  wire: IncidentWire;
  affectedCustomers: number | null;
  mrr: readonly { currency: string; amount_minor: number }[] | null;
}

export const CREATED = Array.from({ length: 40 }, (_, index) =>
  new Date(Date.parse('2026-11-01T00:00:00.000Z') + index * 39_600_000).toISOString(),
);
const RUNS = ['queued', 'running', 'completed', 'failed', 'cancelled', 'unavailable'] as const;

const sometimes = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: undefined, freq: 2 });
const pick = <Value>(...values: Value[]) => fc.constantFrom(...values);

export const TEXTS = [
  '',
  'acme',
  'ACME',
  'Äpfel & Söhne',
  'äpfel & söhne',
  'zebra',
  'İstanbul',
  'Straße',
  '日本',
  '😀',
  '\uFFEE',
  '100% of_it',
  'aab aba baa bab',
  `long, ${'and so on, '.repeat(400)}to the needle in it`,
];
/** One of them, GBP, has no exchange rate. */
const CURRENCIES = ['USD', 'USD', 'EUR', 'JPY', 'GBP'] as const;
const AMOUNTS = [0, 0, 1, 100, 109, 1_000, 123_457] as const;
export const PLACES = ['west', 'east', 'süd', 'Nowhere', 'nowhere', 'abroad', ''];

const VALUES: Readonly<Record<FieldSlug, fc.Arbitrary<unknown>>> = {
  customer: pick(...TEXTS),
  score: pick(-3, 0, 0.1, 0.3, 7, 7.25, 1e-7, 1e15),
  flag: fc.boolean(),
  day: pick('0001-01-01', '2026-02-28', '2026-11-20', '9999-12-31'),
  hour: pick('00:00', '09:30', '09:30:00', '09:30:01', '23:59:59'),
  moment: pick('2026-11-20T09:00:00Z', '2026-11-20T10:00:00+01:00', '2026-11-20T09:00:00.001Z', '0001-01-01T00:00:00Z'),
  cost: fc.record({ amount: pick(0, 9.99, 10, 250), currency: pick('EUR', 'USD', 'JPY') }),
  env: pick('production', 'Staging', 'dev', 'PRODUCTION', 'qa', 'Beta', ''),
  places: fc.uniqueArray(pick(...PLACES), { maxLength: 3 }),
  blob: pick<unknown>({}, [], 'x', 0),
};

const specimen = fc.record({
  createdAt: pick(...CREATED),
  status: pick('triage', 'open', 'active', 'resolved', 'closed', 'abandoned'),
  severity: pick('worst', 'bad', 'fair'),
  service: pick('', 'checkout', 'checkout_api', 'Checkout', 'mail', 'a\u0308rger', 'search', 'unmanaged', 'ÜBER'),
  regions: fc.uniqueArray(pick('eu-west', 'EU-East', 'Ürümqi', 'ap', 'us'), { maxLength: 3 }),
  issueType: pick('ticket', 'incident', 'postmortem'),
  teamId: pick(undefined, undefined, 1, 2, 3, 4),
  impact: pick('unknown', 'none', 'confirmed'),
  manager: pick('', '', '7', '10', '9'),
  values: fc.record(
    Object.fromEntries(Object.entries(VALUES).map(([slug, value]) => [slug, sometimes(value)])) as Record<
      FieldSlug,
      fc.Arbitrary<unknown>
    >,
  ),
  eventTimes: fc.uniqueArray(pick(...CREATED), { maxLength: 2 }),
  customers: sometimes(pick(0, 1, 5, 5, 1_000)),
  mrr: fc.array(fc.record({ currency: pick(...CURRENCIES), amount_minor: pick(...AMOUNTS) }), { maxLength: 4 }),
  run: sometimes(pick(...RUNS)),
  archivedAt: pick(undefined, undefined, undefined, ...CREATED.slice(-4)),
  impactStartedAt: pick(null, null, ...CREATED.slice(10, 20)),
  title: pick('x', ...TEXTS.slice(1, 13)),
  summary: pick(...TEXTS),
});

/** Creates incidents of all kinds in workspace 1 over the API, and sends messages about them over the broker. */
export async function populate(service: TestService, clock: SetClock, count: number): Promise<Listed[]> {
  const client = service.as();
  const listed: Listed[] = [];
  for (const [index, one] of fc.sample(specimen, { numRuns: count, seed: 20261120 }).entries()) {
    clock.set(one.createdAt);
    const path = await declare(client, { ...one, externalId: index % 3 === 0 ? `alert-${index}` : null });
    const id = Number(path.split('/').at(-1));
    for (const started_at of one.eventTimes) await ok(client.post(`${path}/timeline`, { body: 'x', started_at }));
    if (one.customers !== undefined) {
      await publish(service, 'customer-impact.updated', {
        incident_id: id,
        affected_customers: one.customers,
        mrr: one.mrr,
        as_of: one.createdAt,
      });
    }
    if (one.run !== undefined) {
      const run = { incident_id: id, run_id: `run-${id}`, status: one.run, started_at: one.createdAt };
      await publish(service, 'investigation.run.updated', run);
    }
    if (one.archivedAt !== undefined) {
      clock.set(one.archivedAt);
      await ok(client.post(`${path}/archive`));
    }
    const { incident } = await ok(client.get(path));
    listed.push({
      wire: incident,
      affectedCustomers: one.customers ?? null,
      mrr: one.customers === undefined ? null : one.mrr,
    });
  }
  return listed;
}

type Specimen = typeof specimen extends fc.Arbitrary<infer One> ? One : never;

async function declare(client: Client, one: Specimen & { externalId: string | null }): Promise<string> {
  const custom_field_values = DEFINITIONS.map(({ id, slug }) => ({
    field_id: id,
    value: one.values[slug as FieldSlug],
  }));
  const { incident } = await ok(
    client.post('/api/v1/incidents', {
      title: one.title,
      impact_summary: one.summary,
      external_id: one.externalId,
      impact_started_at: one.impactStartedAt,
      status: one.status,
      severity: one.severity,
      service: one.service,
      regions: one.regions,
      issue_type: one.issueType,
      customer_impact_status: one.impact,
      incident_manager: one.manager,
      ...(one.teamId !== undefined && { team_id: one.teamId }),
      custom_field_values: custom_field_values.filter(({ value }) => value !== undefined),
    }),
  );
  return `/api/v1/incidents/${incident.id}`;
}

/** Adds the catalog, the custom fields and the users of workspace 1. Its services have no owners yet. */
export async function addReferenceData(service: TestService): Promise<void> {
  await service.owners.change(1, (data) => {
    data.teams.push(...TEAMS);
    data.services.push(...SERVICES.map((one) => ({ ...one, owner_team_id: null, archived_at: null })));
    data.fields.push(...DEFINITIONS);
    data.users.push(...[7, 9, 10].map((id) => aUser(id)));
  });
}

/** Sets the owners of the services, so that incidents without a team of their own have an effective team. */
export async function assignOwners(service: TestService): Promise<void> {
  await service.owners.change(1, (data) => void (data.services = [...SERVICES]));
}

async function publish(service: TestService, type: string, data: object): Promise<void> {
  const id = randomUUID();
  const body = JSON.stringify({
    id,
    type,
    schema_version: 1,
    occurred_at: '2026-11-20T09:00:00.000Z',
    workspace: { id: 1, slug: 'acme', is_demo: false },
    request_id: null,
    data: { workspace_id: 1, ...data },
  });
  const [outcome] = await service.broker.publish([{ id, type, body }]);
  if (outcome !== 'confirmed') throw new Error(`not confirmed: ${type}`);
}

async function ok(response: ReturnType<Client['get']>) {
  const { status, body } = await response;
  if (status >= 300) throw new Error(JSON.stringify(body));
  return body;
}
