import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { serviceForFile } from '../service.ts';

interface Feed {
  id?: string;
  occurredAt?: string;
  workspaceId?: number;
}

const second = (seconds: number) => `2026-11-20T09:00:${String(seconds).padStart(2, '0')}.000Z`;

function message(
  type: string,
  data: object,
  { id = randomUUID(), occurredAt = second(0), workspaceId = 1 }: Feed = {},
) {
  const workspace = { id: workspaceId, slug: 'acme', is_demo: false };
  const body = { id, type, schema_version: 1, occurred_at: occurredAt, workspace, request_id: null, data };
  return { id, type, body: JSON.stringify(body) };
}

const impact = (incidentId: number, customers: number, asOf: string, more: object = {}, feed: Feed = {}) =>
  message(
    'customer-impact.updated',
    {
      workspace_id: 1,
      incident_id: incidentId,
      affected_customers: customers,
      mrr: [{ currency: 'EUR', amount_minor: customers * 100 }],
      as_of: asOf,
      ...more,
    },
    feed,
  );

const run = (
  incidentId: number,
  runId: string,
  status: string,
  startedAt: string,
  feed: Feed = {},
  more: object = {},
) =>
  message(
    'investigation.run.updated',
    { workspace_id: 1, incident_id: incidentId, run_id: runId, status, started_at: startedAt, ...more },
    feed,
  );

const service = await serviceForFile();

describe('feeds', () => {
  const { knex: database } = service;

  const declared = async (): Promise<number> => {
    const { body } = await service.as().post('/api/v1/incidents', { title: 'x' });
    return body.incident.id;
  };
  const shown = async (id: number) => (await service.as().get(`/api/v1/incidents/${id}`)).body.incident;
  const publish = async (...messages: ReturnType<typeof message>[]) => {
    for (const one of messages) expect(await service.broker.publish([one])).toEqual(['confirmed']);
  };
  const expectDeadLetter = async (one: ReturnType<typeof message>) => {
    const deadLetters = [{ queue: QUEUES.incidentReports.name, reason: 'rejected' }];
    expect(await service.broker.publish([one])).toEqual([{ deadLetters }]);
  };
  const impactOf = async (id: number) =>
    database('incidents').where({ id }).first('affected_customers', 'mrr', 'impact_as_of');
  /** The value of a counter of the service. */
  const counted = async (line: RegExp): Promise<number> => {
    const text = await (await fetch(`${service.app.url}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((each) => line.test(each))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  };
  const outcome = (name: string) =>
    new RegExp(`^tocsin_messages_consumed_total{.*queue="incident.feeds".*outcome="${name}"`);

  describe('customer impact', () => {
    test('the latest as_of wins, in any order of arrival', async () => {
      const id = await declared();
      await publish(impact(id, 5, '2026-11-20T10:00:05+01:00'));
      expect(await impactOf(id)).toEqual({
        affected_customers: 5,
        mrr: [{ currency: 'EUR', amount_minor: 500 }],
        impact_as_of: second(5),
      });
      await publish(impact(id, 3, second(3)));
      expect(await impactOf(id)).toMatchObject({ affected_customers: 5, impact_as_of: second(5) });
      await publish(impact(id, 0, second(7), { mrr: [] }));
      expect(await impactOf(id)).toEqual({ affected_customers: 0, mrr: [], impact_as_of: second(7) });
    });

    test('a repeated message changes nothing', async () => {
      const id = await declared();
      const reports = impact(id, 5, second(5));
      const before = await counted(outcome('duplicate'));
      await publish(reports, impact(id, 6, second(5)), reports);
      expect(await impactOf(id)).toMatchObject({ affected_customers: 6 });
      expect(await counted(outcome('duplicate'))).toBe(before + 1);
    });

    test('does not change the revision, so that no PATCH fails, and also updates archived incidents', async () => {
      const id = await declared();
      await publish(impact(id, 5, second(5)), run(id, 'a', 'running', second(1)));
      const path = `/api/v1/incidents/${id}`;
      const changed = await service.as().patch(path, { title: 'y' }, { 'If-Service-Resource-Version': '1' });
      expect(changed).toMatchObject({ status: 200, body: { incident: { revision: 2 } } });
      expect(await impactOf(id)).toMatchObject({ affected_customers: 5 });
      await service.as().post(`${path}/archive`);
      await publish(impact(id, 9, second(9)));
      expect(await impactOf(id)).toMatchObject({ affected_customers: 9 });
      expect(await shown(id)).toMatchObject({ revision: 3 });
    });

    test.each<[string, object, Feed]>([
      ['of another workspace', { workspace_id: 9 }, { workspaceId: 9 }],
      ['that the message itself gives to another', { workspace_id: 9 }, {}],
      ['that the envelope gives to another', {}, { workspaceId: 9 }],
      ['that is not there', { incident_id: 999_999 }, {}],
    ])('an event for an incident %s is ignored and counted', async (_which, more, feed) => {
      const id = await declared();
      const line = /^tocsin_feed_events_ignored_total{.*type="customer-impact.updated"/;
      const before = await counted(line);
      await publish(impact(id, 5, second(5), more, feed));
      expect(await impactOf(id)).toEqual({ affected_customers: null, mrr: null, impact_as_of: null });
      expect(await counted(line)).toBe(before + 1);
    });
  });

  describe('investigation runs', () => {
    test('the run that started last is the latest, and each run counts once', async () => {
      const id = await declared();
      expect((await shown(id)).investigation_summary).toBeNull();
      await publish(run(id, 'b', 'running', second(20), { occurredAt: second(21) }));
      await publish(
        run(id, 'a', 'completed', second(10), { occurredAt: second(30) }, { completed_at: '2026-11-20T09:00:30Z' }),
      );
      expect((await shown(id)).investigation_summary).toEqual({
        run_count: 2,
        latest_run: { status: 'running', started_at: second(20) },
      });
      await publish(run(id, 'b', 'failed', second(20), { occurredAt: second(40) }, { completed_at: second(39) }));
      expect((await shown(id)).investigation_summary).toEqual({
        run_count: 2,
        latest_run: { status: 'failed', started_at: second(20), completed_at: second(39) },
      });
      await publish(run(id, 'c', 'queued', second(50), { occurredAt: second(50) }));
      expect((await shown(id)).investigation_summary).toMatchObject({ run_count: 3, latest_run: { status: 'queued' } });
    });

    test('neither an older report nor a duplicate changes a run', async () => {
      const id = await declared();
      const first = run(id, 'a', 'queued', second(10), { occurredAt: second(10) });
      await publish(
        run(id, 'a', 'completed', second(11), { occurredAt: second(30) }),
        first,
        first,
        run(id, 'a', 'running', second(11), { occurredAt: second(20) }),
      );
      expect((await shown(id)).investigation_summary).toEqual({
        run_count: 1,
        latest_run: { status: 'completed', started_at: second(11) },
      });
    });

    test('concurrent reports are all stored', async () => {
      const id = await declared();
      const reports = Array.from({ length: 30 }, (_, index) =>
        run(id, `run-${index % 10}`, 'running', second(index % 10), { occurredAt: second(index) }),
      );
      expect(await service.broker.publish(reports)).toEqual(reports.map(() => 'confirmed'));
      expect((await shown(id)).investigation_summary).toEqual({
        run_count: 10,
        latest_run: { status: 'running', started_at: second(9) },
      });
    });

    test('an event for an incident of another workspace is ignored and counted', async () => {
      const id = await declared();
      const line = /^tocsin_feed_events_ignored_total{.*type="investigation.run.updated"/;
      const before = await counted(line);
      await publish(run(id, 'a', 'running', second(1), { workspaceId: 9 }, { workspace_id: 9 }));
      expect((await shown(id)).investigation_summary).toBeNull();
      expect(await counted(line)).toBe(before + 1);
    });
  });

  test.each<[string, object]>([
    ['no time', { as_of: 'yesterday' }],
    ['a day that does not exist', { as_of: '2026-02-30T09:00:00Z' }],
    ['a year that nobody can keep', { as_of: '0000-01-01T00:00:00Z' }],
    ['fewer than no customers', { affected_customers: -1 }],
    ['no amounts', { mrr: {} }],
    ['no currency', { mrr: [{ currency: 'eur', amount_minor: 1 }] }],
    ['no incident', { incident_id: null }],
  ])('a malformed message is rejected without a retry: %s', async (_what, more) => {
    const id = await declared();
    const before = await counted(outcome('malformed'));
    await expectDeadLetter(impact(id, 5, second(5), more));
    expect(await counted(outcome('malformed'))).toBe(before + 1);
    expect(await impactOf(id)).toMatchObject({ affected_customers: null });
  });

  test('a run whose name cannot be stored is malformed', async () => {
    const before = await counted(outcome('malformed'));
    await expectDeadLetter(run(await declared(), 'a\0b', 'running', second(1)));
    expect(await counted(outcome('malformed'))).toBe(before + 1);
  });
});
