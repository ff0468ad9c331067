import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWithServers } from '@tocsin/testing/suites';
import { startSystem, type System } from '../../../infra/verification/systems/system.ts';
import { Tocsin } from '../src/index.ts';
import { breakingProxy } from './breaking-proxy.ts';

describeWithServers('the client and a whole system', () => {
  let system: System;
  let token: string;
  beforeAll(async () => {
    system = await startSystem({ settings: { DEFAULT_WORKSPACE: 'acme' } });
    ({ token } = await system.as());
  });
  afterAll(async () => system.stop());

  test('create exactly 500 incidents through connections that are cut before, in and after the answer', async () => {
    const proxy = await breakingProxy(system.url);
    const tocsin = new Tocsin({ baseUrl: proxy.url, token, retries: 20 });
    const titles = Array.from({ length: 500 }, (_, index) => `Incident ${index}`);
    const waiting = [...titles];
    const created: number[] = [];
    const writer = async () => {
      for (let title = waiting.shift(); title !== undefined; title = waiting.shift()) {
        const { incident } = await tocsin.incidents.create({ title });
        expect(incident.title).toBe(title);
        created.push(incident.id);
      }
    };
    await Promise.all(Array.from({ length: 20 }, writer));
    await proxy.close();
    for (const count of Object.values(proxy.cuts)) expect(count).toBeGreaterThan(5);

    const stored: { id: number; title: string }[] = [];
    const direct = new Tocsin({ baseUrl: system.url, token });
    for await (const { id, title } of direct.incidents.list({ limit: 100 })) stored.push({ id, title });
    expect(stored.map(({ title }) => title).toSorted()).toEqual(titles.toSorted());
    expect(stored.map(({ id }) => id).toSorted()).toEqual(created.toSorted());
  });

  test('apply each of a hundred updates of ten writers at once exactly once', async () => {
    const tocsin = new Tocsin({ baseUrl: system.url, token });
    const { incident } = await tocsin.incidents.create({ title: 'Everybody changes it' });
    const updates = async (_: unknown, writer: number) => {
      for (let number = 0; number < 10; number += 1) {
        await tocsin.incidents.updateWith(
          incident.id,
          ({ impact_summary: summary }) => ({ impact_summary: `${summary} ${writer}.${number}` }),
          { attempts: 200 },
        );
      }
    };
    await Promise.all(Array.from({ length: 10 }, updates));
    const { incident: changed } = await tocsin.incidents.get(incident.id);
    const applied = changed.impact_summary.trim().split(' ');
    expect(applied).toHaveLength(100);
    expect(new Set(applied).size).toBe(100);
    expect(changed.revision).toBe(incident.revision + 100);
  });

  test.each(['stream', 'polls'] as const)('follow the feed by %s', async (transport) => {
    const tocsin = new Tocsin({ baseUrl: system.url, token });
    const { pagination } = await tocsin.events.list();
    const titles = ['One', 'Two', 'Three'].map((title) => `${title} by ${transport}`);
    for (const title of titles) await tocsin.incidents.create({ title });
    const seen: string[] = [];
    for await (const { event } of tocsin.events.follow({ after: pagination.next_cursor, transport })) {
      if (event.type === 'incident.created') seen.push(event.data.incident.title);
      if (seen.length === titles.length) break;
    }
    expect(seen).toEqual(titles);
  });
});
