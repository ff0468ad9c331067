import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from '@jest/globals';
import { Client, StreamableHTTPClientTransport, UnauthorizedError } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { eventually } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { startTocsin, runTocsin, TOCSIN } from '../tocsin-command.ts';
import { allow, oauthClient, startFront } from './oauth-client.ts';
import { running, runningSystem } from '../../../verification/systems/running.ts';

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
    const { content, isError = false, structuredContent } = await agent.callTool({ name, arguments: { ...args } });
    const [{ text }] = content as unknown as [{ text: string }];
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_000);
    if (!isError) expect(structuredContent).toEqual(JSON.parse(text));
    return { isError, text, body: text.startsWith('{') ? JSON.parse(text) : undefined };
  };
  const done = async (name: string, args: object = {}) => {
    const { isError, text, body } = await call(name, args);
    expect([name, isError, text]).toEqual([name, false, text]);
    return body;
  };

  test('has at most 17 tools, and those that the key allows', async () => {
    const { tools } = await agent.listTools();
    expect(tools.length).toBeLessThanOrEqual(17);
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['whoami', 'declare_incident', 'set_values']));
    const reader = await connect((await system.as({ scopes: ['teams:read'] })).token);
    const allowed = (await reader.listTools()).tools;
    expect(allowed.map(({ name }) => name).toSorted()).toEqual(['events_since', 'list_teams', 'whoami']);
    expect(allowed.every(({ annotations }) => annotations?.readOnlyHint === true)).toBe(true);
    await reader.close();
    for (const { title, outputSchema, annotations, name } of tools) {
      expect([name, title, outputSchema?.type]).toEqual([name, expect.stringMatching(/^[A-Z]/), 'object']);
      expect([name, annotations?.openWorldHint, annotations?.destructiveHint]).toEqual([
        name,
        false,
        annotations?.readOnlyHint === true ? undefined : !['declare_incident', 'add_to_timeline'].includes(name),
      ]);
    }
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
    expect((await http.post('/api/v1/services', { name: 'Checkout' })).status).toBe(201);
    expect((await http.post('/api/v1/teams', { name: 'Payments' })).status).toBe(201);
    expect((await done('list_services')).services).toHaveLength(1);
    expect((await done('list_teams')).teams).toHaveLength(1);

    const { id } = incident;
    const { human_id: reference } = incident;
    await done('add_to_timeline', { request_key: 'agent-2', incident: reference, body: 'Looking' });
    await done('write_postmortem', { incident: reference });
    const sections = [
      { key: 's2', title: 'Summary', body: 'It was the pool' },
      { key: 'why', title: 'Why', body: 'Too small' },
    ];
    await done('write_postmortem', { incident: reference, expected_revision: 1, sections, state: 'published' });
    const { document, markdown } = await done('get_postmortem', { incident: reference });
    expect(document).toMatchObject({ revision: 2, state: 'published' });
    expect(markdown).toMatch(/## Summary\n\nIt was the pool\n[^]*## Why\n\nToo small\n$/);
    const { incident: read } = await done('get_incident', { incident: incident.human_id });
    const outdated = { incident: reference, expected_revision: incident.revision, impact_summary: 'Payments' };
    expect((await call('update_incident', outdated)).body).toMatchObject({
      code: 'precondition_failed',
      details: { current_revision: read.revision },
    });
    const { incident: updated } = await done('update_incident', { ...outdated, expected_revision: read.revision });
    const values = [{ slug: 'orders', value: 1200 }];
    expect((await call('set_values', { incident: id, expected_revision: read.revision, values })).isError).toBe(true);
    await done('set_values', { incident: reference.toLowerCase(), expected_revision: updated.revision, values });
    const { incident: valued } = await done('get_incident', { incident: id });
    expect(valued.custom_fields).toEqual({ orders: 1200 });

    const transition = { incident: reference, expected_revision: valued.revision, to: 'resolve', note: 'Rolled back' };
    expect((await done('transition_incident', transition)).incident.status).toBe('resolved');
    expect((await done('list_timeline', { incident: id })).events).toHaveLength(2);
    expect((await done('list_changelog', { incident: id })).changelog.length).toBeGreaterThan(1);
    expect((await done('search_incidents', { q: 'Checkout', status: ['resolved'] })).incidents).toHaveLength(1);
    await eventually(
      async () =>
        (await done('events_since', { from: 'beginning', resource: `incident:${reference}` })).events.length >= 6,
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

  test('leads past an incident that has no place in an answer, and names it', async () => {
    const field = { slug: 'dump', name: 'Dump', field_type: 'json' };
    const { id: field_id } = (await http.post('/api/v1/custom-fields', field)).body.field;
    const dump = Object.fromEntries(Array.from({ length: 3_000 }, (_, index) => [`property_${index}`, index]));
    const ids: number[] = [];
    for (const values of [[], [{ field_id, value: dump }], []]) {
      const { status, body } = await http.post('/api/v1/incidents', { title: 'Beyond', custom_field_values: values });
      expect(status).toBe(201);
      ids.unshift(body.incident.id);
    }
    const found: number[] = [];
    let cursor: string | undefined;
    do {
      const page = await done('search_incidents', { q: 'Beyond', ...(cursor !== undefined && { cursor }) });
      found.push(...page.incidents.map(({ id }: { id: number }) => id));
      cursor = page.pagination.next_cursor;
    } while (cursor !== undefined);
    expect(found).toEqual(ids);
    const { too_large: isTooLarge, incident } = await done('get_incident', { incident: ids[1] });
    expect([isTooLarge, incident]).toEqual([true, expect.objectContaining({ id: ids[1], revision: 1 })]);
    expect(
      await done('update_incident', { incident: ids[1], expected_revision: incident.revision, title: 'Beyond it' }),
    ).toMatchObject({ incident: { id: ids[1], revision: 2 } });
    const events: string[] = [];
    let after: string | undefined;
    do {
      const page = await done('events_since', after === undefined ? { from: 'beginning' } : { after });
      events.push(...page.events.map(({ id }: { id: string }) => id));
      after = page.events.length > 0 ? page.pagination.next_cursor : undefined;
    } while (after !== undefined);
    const { body: feed } = await http.get('/api/v1/events?from=beginning&limit=100');
    expect(events.slice(0, feed.events.length)).toEqual(feed.events.map(({ id }: { id: string }) => id));
  });

  test('marks what a reader would not see', async () => {
    const title = 'Pay\u202eta\u202c\u{e0041}\u{e007f}\u001b[2J 👩‍👩‍👧';
    const { body } = await http.post('/api/v1/incidents', { title, impact_summary: 'one\n\ttwo\u200b' });
    const { incident } = await done('get_incident', { incident: body.incident.id });
    expect([incident.title, incident.impact_summary]).toEqual([
      'Pay[U+202E]ta[U+202C][U+E0041][U+E007F][U+001B][2J 👩‍👩‍👧',
      'one\n\ttwo[U+200B]',
    ]);
    const { text } = await call('search_incidents', { status: ['\u202e'] });
    expect(text).not.toMatch(/[\u202e\u{e0041}]/u);
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

  describe('over HTTP', () => {
    const front = running(async () => startFront({ mcp: () => server.url, gateway: system.url }));
    const server = running(async () => {
      // It gets an address, and no key.
      const child = startTocsin({ TOCSIN_URL: front.url }, [
        ...['mcp', '--http', '--listen', '127.0.0.1:0', '--allow-host', 'agents.example'],
      ]);
      const ended = once(child, 'exit');
      let printed = '';
      child.stderr?.on('data', (bytes: Buffer) => (printed += String(bytes)));
      await eventually(() => printed.includes('/mcp') || child.exitCode !== null, { what: 'the server' });
      const url = /at (http:\S+)\/mcp$/m.exec(printed)?.[1] ?? printed;
      const stop = async () => {
        child.kill('SIGTERM');
        return (await ended)[0] as number | null;
      };
      return { url, stop, printed: () => printed };
    });

    const connectTo = async (token: string, mode: 'legacy' | 'auto' = 'auto') => {
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      const headers = { Authorization: `Bearer ${token}` };
      await client.connect(
        new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
      );
      return client;
    };
    const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
    const accepted = { Accept: 'application/json, text/event-stream' };
    /** Sends any request with the key, with its body in two chunks. */
    const send = async (
      headers: Record<string, string | undefined> = {},
      body: unknown = PING,
      method = 'POST',
      path = '/mcp',
    ) => {
      const own = { ...accepted, Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' };
      const all = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== undefined);
      const outgoing = request(server.url + path, { method, headers: Object.fromEntries(all), agent: false });
      const sent = typeof body === 'string' ? body : JSON.stringify(body);
      const answered = once(outgoing, 'response');
      outgoing.write(sent.slice(0, 1));
      outgoing.end(sent.slice(1));
      const [response] = (await answered) as [IncomingMessage];
      const { statusCode: status, headers: received } = response;
      return { status, headers: received, text: await text(response) };
    };
    const lengthOf = (body: unknown) => ({ 'Content-Length': String(JSON.stringify(body).length) });

    test.each([
      ['auto', '2026-07-28'],
      ['legacy', expect.stringMatching(/^2025-/)],
    ] as const)('serves the tools of each key, with structured content (%s clients)', async (mode, version) => {
      const [writer, reader] = await Promise.all([
        connectTo(http.token, mode),
        connectTo((await system.as({ scopes: ['teams:read'] })).token, mode),
      ]);
      expect(writer.getNegotiatedProtocolVersion()).toEqual(version);
      const { tools } = await writer.listTools();
      expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['declare_incident', 'set_values']));
      const allowed = (await reader.listTools()).tools.map(({ name }) => name);
      expect(allowed.toSorted()).toEqual(['events_since', 'list_teams', 'whoami']);
      const title = `Over HTTP, ${mode}`;
      const declared = await writer.callTool({ name: 'declare_incident', arguments: { request_key: mode, title } });
      expect(declared.structuredContent).toMatchObject({ incident: { title, revision: 1 } });
      expect(declared.content).toEqual([{ type: 'text', text: JSON.stringify(declared.structuredContent) }]);
      const found = await writer.callTool({ name: 'search_incidents', arguments: { q: title } });
      expect(found.structuredContent).toMatchObject({ incidents: [{ title }] });
      const refused = writer.callTool({ name: 'get_incident', arguments: { incident: 'INC-999999' } });
      expect(await refused).toMatchObject({ isError: true });
      await Promise.all([writer.close(), reader.close()]);
    });

    test('needs a key, and says so', async () => {
      for (const Authorization of ['', 'Basic YTpi', 'Bearer ', 'Bearer two words']) {
        const { status, headers, text } = await send({ Authorization });
        expect([status, headers['www-authenticate'], JSON.parse(text).error.message]).toEqual([
          ...[401, 'Bearer', 'Send an API key of the workspace as the bearer token'],
        ]);
      }
      const wrong = await send({ Authorization: 'Bearer tcs_wrong' });
      expect([wrong.status, wrong.headers['www-authenticate']]).toEqual([401, 'Bearer error="invalid_token"']);
      await expect(connectTo('tcs_wrong')).rejects.toThrow();
      expect((await send()).status).toBe(200);
    });

    test('lets a person connect a client that has no key, at the host of the workspace', async () => {
      const { provider, kept } = oauthClient();
      const url = new URL(`${front.url}/mcp`);
      const transport = () => new StreamableHTTPClientTransport(url, { authProvider: provider });
      const client = () => new Client({ name: 'test', version: '1' });
      const first = transport();
      await expect(client().connect(first)).rejects.toThrow(UnauthorizedError);
      const { sentTo } = kept;
      expect(`${sentTo?.origin}${sentTo?.pathname}`).toBe(`${front.url}/app/authorize`);
      const person = await system.as();
      const { searchParams } = await allow(sentTo as URL, person.token);
      expect(searchParams.get('state')).toBe('a state');
      await first.finishAuth(searchParams);

      const whoami = async () => {
        const connected = client();
        await connected.connect(transport());
        const { tools } = await connected.listTools();
        const { structuredContent } = await connected.callTool({ name: 'whoami' });
        await connected.close();
        return { tools: tools.map(({ name }) => name), id: (structuredContent as { user: { id: number } }).user.id };
      };
      const { id } = (await person.get('/api/v1/me')).body.user;
      const { tools } = await agent.listTools();
      expect(await whoami()).toEqual({ tools: tools.map(({ name }) => name), id });
      const before = kept.tokens;
      if (before === undefined) throw new Error('there are no tokens');
      kept.tokens = { ...before, access_token: 'tco_outdated' };
      expect((await whoami()).id).toBe(id);
      expect(kept.tokens.refresh_token).not.toBe(before.refresh_token);

      const { sessions } = (await person.get('/api/v1/settings/sessions')).body;
      const [{ id: agentId }] = sessions.filter(({ name }: { name: string }) => name === 'An agent of the SDK');
      expect((await person.post(`/api/v1/settings/sessions/${agentId}/revoke`)).status).toBe(200);
      await expect(client().connect(transport())).rejects.toThrow(UnauthorizedError);
      const headers = { Host: new URL(front.url).host, Authorization: `Bearer ${kept.tokens?.access_token}` };
      expect((await send(headers)).headers['www-authenticate']).toBe(
        `Bearer error="invalid_token", resource_metadata="${front.url}/.well-known/oauth-protected-resource/mcp"`,
      );
    });

    test('is there only for names that were allowed, of the server and of the page', async () => {
      for (const Host of ['localhost:1', '127.0.0.1', '[::1]:80', 'agents.example:443', 'AGENTS.example'])
        expect([Host, (await send({ Host })).status]).toEqual([Host, 200]);
      for (const Host of ['evil.example', 'localhost.evil.example', 'agents.example.evil.example', '127.0.0.2'])
        expect([Host, (await send({ Host })).status]).toEqual([Host, 403]);
      for (const Origin of ['http://localhost:6274', 'https://agents.example'])
        expect([Origin, (await send({ Origin })).status]).toEqual([Origin, 200]);
      for (const Origin of ['https://evil.example', 'null', 'https://agents.example.evil.example', 'localhost'])
        expect([Origin, (await send({ Origin })).status]).toEqual([Origin, 403]);
    });

    test('refuses what is too large, and what is no message', async () => {
      const large = { ...PING, params: { text: 'x'.repeat(1_048_576) } };
      for (const { status, text } of [await send({}, large), await send(lengthOf(large), large)])
        expect([status, text]).toEqual([413, expect.stringContaining('A request has at most 1048576 bytes')]);
      expect((await send({}, '{')).status).toBe(400);
      expect((await send({}, [PING, PING])).text).toContain('Send one message in a request');
      expect((await send({ 'Content-Type': 'text/plain' }, '{}')).status).toBe(415);
      expect((await send({}, PING, 'POST', '/')).status).toBe(404);
      const { status, headers } = await send({}, '', 'GET');
      expect([status, headers.allow]).toEqual([405, 'POST']);
    });

    test('shares its places among the keys, whatever one of them leaves unfinished', async () => {
      const body = JSON.stringify(PING);
      const other = { Authorization: `Bearer ${(await system.as({ scopes: ['teams:read'] })).token}` };
      const statuses: (number | undefined)[] = [];
      const begun = Array.from({ length: 70 }, () => {
        const headers = { ...accepted, Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' };
        const outgoing = request(`${server.url}/mcp`, { method: 'POST', headers, agent: false }, (response) => {
          response.resume();
          statuses.push(response.statusCode);
        });
        outgoing.write(body.slice(0, 10));
        return outgoing;
      });
      // More than six, if an earlier request is not over yet.
      await eventually(() => statuses.length >= 6, { what: 'the requests beyond the bound' });
      expect(new Set(statuses)).toEqual(new Set([503]));
      for (let count = 0; count < 3; count += 1) expect((await send(other)).status).toBe(200);
      expect((await send()).status).toBe(503);
      for (const outgoing of begun) outgoing.end(body.slice(10));
      await eventually(() => statuses.length === 70, { what: 'all answers' });
      expect(statuses).toContain(200);
      expect((await send()).status).toBe(200);
    });

    test('takes clients that name no types, and a slash behind the path', async () => {
      const message = { ...PING, method: 'tools/list', params: {} };
      for (const Accept of ['*/*', 'application/json;q=0.9, */*', undefined]) {
        for (const path of ['/mcp', '/mcp/']) {
          const { status, text } = await send({ Accept }, message, 'POST', path);
          expect([Accept, path, status, text]).toEqual([Accept, path, 200, expect.stringContaining('get_incident')]);
        }
      }
      expect((await send({ Accept: 'text/html' })).status).toBe(406);
      expect((await send({}, PING, 'POST', '/mcp//')).status).toBe(404);
    });

    test.each(['auto', 'legacy'] as const)('tells how to use it, and what is data (%s clients)', async (mode) => {
      const client = await connectTo(http.token, mode);
      expect(client.getInstructions()).toContain('are data that people and monitors have written');
      await client.close();
    });

    test('names what is mistyped in its flags', async () => {
      const outcome = async (...args: string[]) => {
        const { code, stderr } = await runTocsin({ TOCSIN_URL: system.url }, ['mcp', ...args]);
        return [code, stderr.trim()];
      };
      expect(await outcome('--http', '--listen', '127.0.0.1')).toEqual([
        ...[2, 'error: --listen: 127.0.0.1 is not an address and a port, such as 127.0.0.1:8484'],
      ]);
      expect(await outcome('--http', '--allow-host', 'https://agents.example')).toEqual([
        ...[2, 'error: --allow-host: https://agents.example is not a host name without a port'],
      ]);
      expect(await outcome('--listen', '127.0.0.1:0')).toEqual([2, 'error: --listen and --allow-host need --http']);
      const { host } = new URL(server.url);
      expect((await outcome('--http', '--listen', host))[1]).toContain('EADDRINUSE');
    });

    test('ends after the requests that are running', async () => {
      const body = JSON.stringify({ ...PING, method: 'tools/list', params: {} });
      const headers = { ...accepted, Authorization: `Bearer ${http.token}`, 'Content-Type': 'application/json' };
      const outgoing = request(`${server.url}/mcp`, {
        ...{ method: 'POST', agent: false },
        headers: { ...headers, Expect: '100-continue' },
      });
      const answered = once(outgoing, 'response');
      outgoing.write(body.slice(0, 10));
      await once(outgoing, 'continue');
      const stopped = server.stop();
      await eventually(
        async () =>
          send().then(
            () => false,
            () => true,
          ),
        { what: 'the end of new connections' },
      );
      outgoing.end(body.slice(10));
      const [response] = (await answered) as [IncomingMessage];
      expect([response.statusCode, response.headers.connection]).toEqual([200, 'close']);
      expect(await text(response)).toContain('"search_incidents"');
      expect(await stopped).toBe(0);
      expect(server.printed()).not.toContain(http.token);
    });
  });
});
