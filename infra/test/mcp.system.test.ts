import { expect, test } from '@jest/globals';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { TOCSIN } from './tocsin-command.ts';
import { running, runningSystem } from './running.ts';

describeWithServers('tocsin mcp', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const http = running(async () => system.as());
  const agent = running(
    async () => connect(http.token),
    async (client) => client.close(),
  );

  /** The official client, with a server of its own. */
  async function connect(token: string): Promise<Client> {
    const client = new Client({ name: 'test', version: '1' });
    const env = { PATH: process.env['PATH'] ?? '', TOCSIN_URL: system.url, TOCSIN_TOKEN: token };
    await client.connect(
      new StdioClientTransport({ command: process.execPath, args: [TOCSIN, 'mcp'], env, stderr: 'ignore' }),
    );
    return client;
  }
  const call = async (name: string, args: object = {}) => {
    const { content, isError = false } = await agent.callTool({ name, arguments: { ...args } });
    const [{ text }] = content as unknown as [{ text: string }];
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    return { isError, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const done = async (name: string, args: object = {}) => {
    const { isError, text, body } = await call(name, args);
    expect([name, isError, text]).toEqual([name, false, text]);
    return body;
  };

  test('has at most 16 tools, and those that the key allows', async () => {
    const { tools } = await agent.listTools();
    expect(tools.length).toBeLessThanOrEqual(16);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['whoami', 'declare_incident', 'set_values']));
    const reader = await connect((await system.as({ scopes: ['teams:read'] })).token);
    const allowed = (await reader.listTools()).tools;
    expect(allowed.map(({ name }) => name).toSorted()).toEqual(['events_since', 'list_teams', 'whoami']);
    expect(allowed.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    await reader.close();
  });

  test('leads an agent from the configuration to a resolved incident', async () => {
    expect((await done('whoami')).workspace.slug).toBe('acme');
    expect((await done('get_configuration')).configuration.severities.length).toBeGreaterThan(0);
    const declaration = { request_key: 'agent-1', title: 'Checkout is down', severity: 'sev1' };
    const checked = await done('declare_incident', { ...declaration, validate_only: true });
    expect(checked.incident.id).toBeNull();
    const { incident } = await done('declare_incident', declaration);
    expect(await done('declare_incident', declaration)).toEqual({ incident });
    const field = { slug: 'orders', name: 'Orders', field_type: 'number' };
    expect((await http.post('/api/v1/custom-fields', field)).status).toBe(201);
    expect((await done('list_fields')).fields).toHaveLength(1);

    const { id } = incident;
    await done('add_to_timeline', { request_key: 'agent-2', incident: id, body: 'Looking' });
    const { incident: read } = await done('get_incident', { incident: incident.human_id });
    const outdated = { incident: id, expected_revision: incident.revision, impact_summary: 'Payments' };
    expect((await call('update_incident', outdated)).body).toMatchObject({
      code: 'precondition_failed',
      details: { current_revision: read.revision },
    });
    const { incident: updated } = await done('update_incident', { ...outdated, expected_revision: read.revision });
    const values = [{ slug: 'orders', value: 1200 }];
    expect((await call('set_values', { incident: id, expected_revision: read.revision, values })).isError).toBe(true);
    await done('set_values', { incident: id, expected_revision: updated.revision, values });
    const { incident: valued } = await done('get_incident', { incident: id });
    expect(valued.custom_fields).toEqual({ orders: 1200 });

    const transition = { incident: id, expected_revision: valued.revision, to: 'resolve', note: 'Rolled back' };
    expect((await done('transition_incident', transition)).incident.status).toBe('resolved');
    expect((await done('list_timeline', { incident: id })).events).toHaveLength(2);
    expect((await done('list_changelog', { incident: id })).changelog.length).toBeGreaterThan(1);
    expect((await done('search_incidents', { q: 'Checkout', status: ['resolved'] })).incidents).toHaveLength(1);
    await eventually(
      async () => (await done('events_since', { from: 'beginning', resource: `incident:${id}` })).events.length >= 6,
      { what: 'the events of the incident' },
    );
  });

  test('refuses what is mistyped with the names that exist', async () => {
    const { isError, text } = await call('search_incidents', { stauts: ['open'] });
    expect(isError).toBe(true);
    expect(text).toContain('stauts: unknown; there are: q, status, severity');
    expect((await call('search_incidents', { status: ['opne'] })).body).toMatchObject({
      ...{ code: 'invalid_request', field: 'status', request_id: expect.any(String) },
      message: expect.stringContaining('open'),
    });
    expect((await call('declare_incident', { title: 'Without a key' })).isError).toBe(true);
    expect((await call('update_incident', { incident: 1, title: 'Without a revision' })).isError).toBe(true);
  });

  test('gives answers of at most 20 kB, with a cursor that leaves nothing out', async () => {
    const summary = 'ä'.repeat(3_000);
    const titles = Array.from({ length: 12 }, (_, index) => `Large ${index}`);
    for (const title of titles) {
      expect((await http.post('/api/v1/incidents', { title, impact_summary: summary })).status).toBe(201);
    }
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await done('search_incidents', { q: 'Large', ...(cursor !== undefined && { cursor }) });
      found.push(...page.incidents.map(({ title }: { title: string }) => title));
      cursor = page.pagination.next_cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(titles.toReversed());

    const body = {
      title: 'Longest',
      impact_summary: 'x'.repeat(10_000),
      regions: Array.from({ length: 100 }, (_, index) => `${index}${'r'.repeat(60)}`),
    };
    const { body: created } = await http.post('/api/v1/incidents', body);
    const event = { body: 'ö'.repeat(60_000) };
    expect((await http.post(`/api/v1/incidents/${created.incident.id}/timeline`, event)).status).toBe(201);
    expect((await done('get_incident', { incident: created.incident.id })).incident.title).toBe('Longest');
    const { events } = await done('list_timeline', { incident: created.incident.id });
    expect(events[0].body).toMatch(/^ö+… \[shortened: 60000 characters\]$/);
  });
});
