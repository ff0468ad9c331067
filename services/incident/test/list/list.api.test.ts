import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { asUser, httpClient } from '@tocsin/testing';
import { configure } from '../configure.ts';
import { freshWorkspace } from '../fields.ts';
import { setClock } from './population.ts';
import { serviceForFile } from '../service.ts';
import { aService, aTeam } from '../snapshots.ts';

const NOW = '2026-11-20T12:00:00.000Z';
const clock = setClock(NOW);
const service = await serviceForFile({ clock });

const LIST = '/api/v1/incidents';
const before = (milliseconds: number) => new Date(Date.parse(NOW) - milliseconds).toISOString();
const DAY = 86_400_000;

/** A workspace with one incident for each time, and a function that reads its list under a history limit. */
async function declaredAt(...times: string[]) {
  const workspace = freshWorkspace(service);
  const paths: string[] = [];
  for (const time of times) {
    clock.set(time);
    paths.push(await workspace.declare());
  }
  clock.set(NOW);
  const seen = async (historyDays: number | null, query = '') =>
    (await service.as({ workspace: { id: workspace.id, history_days: historyDays } }).get(`${LIST}${query}`)).body;
  return { workspace, paths, seen };
}

describe('an empty workspace', () => {
  test('has an empty page with all properties', async () => {
    const { client } = freshWorkspace(service);
    for (const path of [LIST, `${LIST}/archived`]) {
      const { status, body } = await client.get(`${path}?include_counts=true`);
      expect(status).toBe(200);
      expect(body).toEqual({
        incidents: [],
        pagination: { limit: 50, has_more: false },
        has_more: false,
        restricted_count: 0,
        history_limited: false,
        mrr_currency: 'USD',
        mrr_conversion_mode: 'source_only',
        mrr_projection_state: 'unavailable',
        supported_mrr_currencies: ['USD'],
        collection_counts: {
          matched: 0,
          all: 0,
          ongoing: 0,
          by_status: { open: 0, active: 0, 'on-hold': 0, monitoring: 0, resolved: 0, closed: 0 },
        },
      });
    }
  });
});

describe('a history limit', () => {
  test('hides older incidents, to the millisecond, and counts them', async () => {
    const { paths, seen } = await declaredAt(before(2 * DAY + 1), before(2 * DAY), before(1));
    const ids = paths.map((path) => Number(path.split('/').at(-1)));
    const limited = await seen(2, '?include_counts=true');
    expect(limited.incidents.map(({ id }: { id: number }) => id)).toEqual([ids[2], ids[1]]);
    expect(limited).toMatchObject({ restricted_count: 1, history_limited: true, collection_counts: { all: 2 } });
    expect(await seen(1.5)).toMatchObject({ restricted_count: 2, history_limited: true });
    expect(await seen(2, '?severity=sev1')).toMatchObject({ incidents: [], restricted_count: 0 });
    expect(await seen(2, '?active_only=true')).toMatchObject({ restricted_count: 1 });
    expect(await seen(null)).toMatchObject({ restricted_count: 0, history_limited: false });
  });

  test('that reaches back before the first incident hides nothing', async () => {
    const { seen } = await declaredAt(before(1));
    expect(await seen(1e9)).toMatchObject({ restricted_count: 0, history_limited: true, incidents: [{}] });
  });
});

describe('revenue at stake', () => {
  const publishRevenue = async (workspaceId: number, incidentId: number, currency: string) => {
    const id = randomUUID();
    const workspace = { id: workspaceId, slug: 'acme', is_demo: false };
    const data = {
      workspace_id: workspaceId,
      incident_id: incidentId,
      affected_customers: 1,
      mrr: [{ currency, amount_minor: 100 }],
      as_of: NOW,
    };
    const type = 'customer-impact.updated';
    const body = { id, type, schema_version: 1, occurred_at: NOW, workspace, request_id: null, data };
    await service.broker.publish([{ id, type, body: JSON.stringify(body) }]);
  };
  const setRates = async (workspaceId: number, rates: unknown) =>
    configure(service.knex, workspaceId, { exchange_rates: rates });

  test('is converted while every required rate exists and is less than a day old', async () => {
    const { workspace, paths } = await declaredAt(before(1));
    await setRates(workspace.id, [{ currency: 'EUR', rate: 1.1, as_of: NOW }]);
    const state = async () => {
      const { body } = await service.as({ workspace: { id: workspace.id, version: 1 } }).get(LIST);
      return [body.mrr_projection_state, body.mrr_conversion_mode];
    };
    expect(await state()).toEqual(['ready', 'normalized']);
    clock.set(new Date(Date.parse(NOW) + DAY - 1).toISOString());
    expect(await state()).toEqual(['ready', 'normalized']);
    clock.set(new Date(Date.parse(NOW) + DAY).toISOString());
    expect(await state()).toEqual(['stale', 'normalized']);
    clock.set(NOW);
    const incidentId = Number(paths[0]!.split('/').at(-1));
    await publishRevenue(workspace.id, incidentId, 'EUR');
    await publishRevenue(workspace.id, incidentId, 'USD');
    expect(await state()).toEqual(['ready', 'normalized']);
    await publishRevenue(workspace.id, incidentId, 'GBP');
    expect(await state()).toEqual(['stale', 'normalized']);
  });

  test('is shown in the reporting currency, and supported in currencies with a rate', async () => {
    const { workspace } = await declaredAt(before(1));
    await setRates(workspace.id, [
      { currency: 'JPY', rate: 0.006, as_of: NOW },
      { currency: 'EUR', rate: 1.1, as_of: NOW },
    ]);
    const user = { workspace: { id: workspace.id, version: 1, reporting_currency: 'GBP' } };
    const { body } = await service.as(user).get(`${LIST}?mrr_currency=GBP&mrr_op=%3E&mrr_value=1`);
    expect(body).toMatchObject({ mrr_currency: 'GBP', supported_mrr_currencies: ['EUR', 'GBP', 'JPY'] });
  });
});

describe('data of other services', () => {
  test('is refreshed by the lists that use it, and by no others', async () => {
    const { client, id } = freshWorkspace(service);
    const refreshesFor = async (query: string) => {
      // A new version, so that a list that uses the data has to fetch it.
      await service.owners.change(id, () => undefined);
      const earlier = service.owners.calls;
      expect((await client.get(`${LIST}${query}`)).status).toBe(200);
      return service.owners.calls - earlier;
    };
    expect(await refreshesFor('?sort=service&service=a&team_id=1&unassigned_team=true&include_counts=true')).toBe(0);
    expect(await refreshesFor('/archived?sort=team')).toBe(0);
    expect(await refreshesFor('?service_tier=t0')).toBe(1);
    expect(await refreshesFor('?effective_team_id=1')).toBe(1);
    expect(await refreshesFor('?sort=team')).toBe(1);
  });

  test('applies as soon as its owner has responded to a change', async () => {
    const workspace = freshWorkspace(service);
    const { client, id } = workspace;
    const { body } = await client.post(LIST, { title: 'x', service: 'fresh' });
    const matches = async (query: string) =>
      (await client.get(`${LIST}?${query}`)).body.incidents.map((incident: { id: number }) => incident.id);
    expect(await matches('service_tier=t0')).toEqual([]);
    await service.owners.change(id, (data) => {
      data.teams.push(aTeam(901));
      data.services.push(aService(901, { slug: 'fresh', tier: 't0', owner_team_id: 901 }));
    });
    expect(await matches('service_tier=t0')).toEqual([body.incident.id]);
    expect(await matches('effective_team_id=901')).toEqual([body.incident.id]);

    const field = await workspace.define({ slug: 'fresh' });
    await client.patch(`${LIST}/${body.incident.id}/custom-fields`, { values: [{ field_id: field.id, value: 'Ä' }] });
    const filter = encodeURIComponent(JSON.stringify({ slug: 'fresh', operator: 'is', value: 'ä' }));
    expect(await matches(`custom_filter=${filter}`)).toEqual([body.incident.id]);
  });

  test('keeps the latest response when an older one arrives after it', async () => {
    const { client, id } = freshWorkspace(service);
    const other = await service.startProcess();
    const otherClient = httpClient(other.url, asUser('incident', { workspace: { id } }));
    const statusOf = async (tier: string, from = client) => (await from.get(`${LIST}?service_tier=${tier}`)).status;
    await service.owners.change(id, () => undefined);
    const held = service.owners.holdNext();
    const first = statusOf('t0', otherClient);
    await held.asked;
    await service.owners.change(id, (data) => {
      data.tiers = [{ key: 'gold', label: 'Gold', order: 0, is_default: true }];
    });
    expect(await statusOf('gold')).toBe(200);
    held.release();
    await first;
    expect(await statusOf('gold')).toBe(200);
    expect(await statusOf('t3')).toBe(400);
    await other.stop();
  });

  test('is used as last copied while its owner is down', async () => {
    const { client, id } = freshWorkspace(service);
    await client.get(`${LIST}?service_tier=t0`);
    await service.owners.change(id, () => undefined);
    service.owners.down = true;
    try {
      expect((await client.get(`${LIST}?service_tier=t0&sort=team`)).status).toBe(200);
    } finally {
      service.owners.down = false;
    }
  });
});

describe('a custom filter', () => {
  test('finds incidents behind a thousand that it rejects', async () => {
    const workspace = freshWorkspace(service);
    const { slug } = await workspace.define({});
    const found = [await workspace.declare({ [slug]: 'x' }), await workspace.declare({ [slug]: 'x' })];
    const { knex: database } = service;
    await database.raw(
      `insert into incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
         customer_impact_status, created_at, created_by)
       select ?, 100 + n, 'x', 'sev3', 'auto', 'open', 'incident', 'unknown', timestamptz '2030-01-01' + n * interval '1 second', '1'
       from generate_series(1, 1100) as n`,
      [workspace.id],
    );
    found.push(await workspace.declare({ [slug]: 'x' }));
    const filter = encodeURIComponent(JSON.stringify({ slug, operator: 'is', value: 'x' }));
    for (const [sort, order] of [
      ['created_at', found.toReversed()],
      ['severity', found.toReversed()],
    ] as const) {
      const ids: string[] = [];
      for (let cursor = ''; ids.length < 9;) {
        const { body } = await workspace.client.get(`${LIST}?limit=1&sort=${sort}&custom_filter=${filter}${cursor}`);
        ids.push(...body.incidents.map(({ id }: { id: number }) => `${LIST}/${id}`));
        if (body.next_cursor === undefined) break;
        cursor = `&cursor=${body.next_cursor}`;
      }
      expect(ids).toEqual(order);
    }
  });
});

describe('text longer than an index entry', () => {
  test('is filtered by all of it, and sorted by its beginning', async () => {
    const workspace = freshWorkspace(service);
    const { slug } = await workspace.define({});
    const choices = await workspace.define({ field_type: 'multi_select', config: { allow_custom: true } });
    const long = 'ä'.repeat(5_000);
    const first = await workspace.declare({ [slug]: `${long}1`, [choices.slug]: [`${long}1`] });
    const second = await workspace.declare({ [slug]: `${long}2`, [choices.slug]: [`${long}2`] });
    const found = async (query: string) => {
      const { status, body } = await workspace.client.get(`${LIST}?${query}`);
      expect(status).toBe(200);
      return body.incidents.map(({ id }: { id: number }) => `${LIST}/${id}`);
    };
    const filter = (item: object) => `custom_filter=${encodeURIComponent(JSON.stringify(item))}`;
    const prefix = 'Ä'.repeat(199);
    expect(await found(filter({ slug, operator: 'starts_with', value: prefix }))).toEqual([second, first]);
    expect(await found(filter({ slug, operator: 'starts_with', value: `${prefix}1` }))).toEqual([]);
    expect(await found(filter({ slug, operator: 'is', value: prefix }))).toEqual([]);
    expect(await found(filter({ slug: choices.slug, operator: 'includes_any', value: prefix }))).toEqual([]);
    const { body } = await workspace.client.get(`${LIST}?limit=1&sort=custom&sort_custom_field=${slug}&direction=asc`);
    const next = await found(`sort=custom&sort_custom_field=${slug}&direction=asc&cursor=${body.next_cursor}`);
    expect([`${LIST}/${body.incidents[0].id}`, ...next]).toEqual([first, second]);
  });
});
