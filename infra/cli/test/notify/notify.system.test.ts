import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeAll, expect, test } from '@jest/globals';
import { eventually, loopbackServer, startConnectProxy, startReceiver as startHttpsReceiver } from '@tocsin/testing';
import fc from '@tocsin/testing/fuzz';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem, temporaryFolder } from '../../../verification/systems/running.ts';
import { runHere } from '../run-here.ts';
import { startTocsin, type TocsinSettings } from '../tocsin-command.ts';

type Answer = (response: ServerResponse, body: string) => void;
const accept: Answer = (response) => void response.writeHead(204).end();

/** What a receiver does with a request. It has the message in those that are marked. */
const BEHAVIOURS: Record<string, { has: boolean; answer: Answer }> = {
  accepts: { has: true, answer: accept },
  'accepts with a page': { has: true, answer: (response) => void response.writeHead(200).end('x'.repeat(200_000)) },
  'accepts, and cuts': { has: true, answer: (response) => void response.destroy() },
  limits: { has: false, answer: (response) => void response.writeHead(429, { 'Retry-After': '0' }).end('{}') },
  fails: { has: false, answer: (response) => void response.writeHead(500).end('no') },
  cuts: { has: false, answer: (response) => void response.destroy() },
  hangs: { has: false, answer: () => undefined },
};

async function startReceiver() {
  const receiver = { answer: accept, bodies: [] as string[], requests: 0 };
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      receiver.requests += 1;
      receiver.answer(response, body);
    });
  });
  const { port, close } = await loopbackServer(server);
  return Object.assign(receiver, { url: `http://127.0.0.1:${port}/hook/secret-path`, stop: close });
}

describeWithServers('tocsin notify', () => {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  const client = running(async () => system.as());
  const folder = temporaryFolder();
  const receiver = running(startReceiver);
  const children: ChildProcess[] = [];
  let urlFile: string;
  let settings: TocsinSettings;
  let output = '';

  beforeAll(async () => {
    urlFile = path.join(folder.path, 'url');
    await writeFile(urlFile, `${receiver.url}\n`);
    settings = { TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: system.url, TOCSIN_TOKEN: client.token };
  });
  afterEach(async () => {
    for (const child of children.splice(0)) await end(child, 'SIGKILL');
    Object.assign(receiver, { answer: accept, bodies: [], requests: 0 });
  });

  const argsOf = (to: string, ...more: string[]) => [
    'notify',
    '--to',
    to,
    '--url-file',
    urlFile,
    '--allow-http',
    ...more,
  ];
  async function start(to: string, ...more: string[]): Promise<ChildProcess> {
    const child = startTocsin(settings, argsOf(to, ...more));
    children.push(child);
    let own = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (bytes) => {
        own += String(bytes);
        output += String(bytes);
      });
    await eventually(() => own.includes('posting the events'), { what: `the start of notify, in ${own}` });
    return child;
  }
  async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const closed = once(child, 'close');
    child.kill(signal);
    return (await closed)[0];
  }
  const create = async (incident: { title: string } & Record<string, unknown>): Promise<number> => {
    const { status, body } = await client.post('/api/v1/incidents', incident);
    expect([status, body]).toEqual([201, expect.anything()]);
    return body.incident.id;
  };

  test.each(['json', 'slack'])(
    'posts every event to %s, in order, over a bad receiver and being killed',
    async (to) => {
      // The receiver begins with each behaviour once; a hang takes the whole deadline.
      const usual = Object.keys(BEHAVIOURS).filter((name) => name !== 'hangs');
      const length = 100;
      const rounds = { minLength: 6, maxLength: 6 };
      const chaos = fc.tuple(
        fc.array(fc.constantFrom(...usual, ...Array<string>(8).fill('accepts')), {
          minLength: length,
          maxLength: length,
        }),
        // Requests after the beginning of a round at which it is killed, and milliseconds behind their arrival.
        fc.array(fc.record({ behind: fc.integer({ min: 1, max: 4 }), wait: fc.integer({ min: 0, max: 40 }) }), rounds),
        // New events.
        fc.array(fc.integer({ min: 1, max: 12 }), rounds),
      );
      const [plan, kills, bursts] = fc.sample(chaos, 1)[0]!;
      const behaviours = [...Object.keys(BEHAVIOURS), ...plan];
      let unclear = 0;
      receiver.answer = (response, body) => {
        const name = behaviours.shift() ?? 'accepts';
        const { has, answer } = BEHAVIOURS[name]!;
        if (has) receiver.bodies.push(body);
        if (name === 'accepts, and cuts') unclear += 1;
        answer(response, body);
      };
      const titles: string[] = [];
      const args = [to, '--types', 'incident.created'] as const;
      let child = await start(...args);
      for (const [index, burst] of bursts.entries()) {
        for (let number = 0; number < burst; number += 1) {
          titles.push(`${to} ${titles.length} <&>`);
          await create({ title: titles.at(-1)! });
        }
        const { behind, wait } = kills[index]!;
        const target = receiver.requests + behind;
        // It may have posted all before.
        await eventually(() => receiver.requests >= target || received(to).at(-1) === titles.at(-1));
        await new Promise((resolve) => setTimeout(resolve, wait));
        await end(child, 'SIGKILL');
        child = await start(...args);
      }
      await eventually(() => received(to).at(-1) === titles.at(-1), { what: `the last event in ${output}` });
      const all = received(to);
      expect(all.filter((title, index) => all.indexOf(title) === index)).toEqual(titles);
      const most = 1 + unclear + kills.length;
      expect(titles.filter((title) => all.filter((each) => each === title).length > most)).toEqual([]);
      expect(output).not.toContain('secret-path');
      if (to === 'slack') expect(receiver.bodies.length).toBeLessThan(all.length);
      expect(await end(child, 'SIGTERM')).toBe(0);
    },
    240_000,
  );

  /** The titles, as they were accepted. */
  function received(to: string): string[] {
    return receiver.bodies.flatMap((body) => {
      const message = JSON.parse(body);
      if (to === 'json') return [message.data.incident.title as string];
      return (message.text as string)
        .split('\n')
        .map((line) => /^<http[^|]+\/app\/incidents\/INC-\d+\|INC-\d+> (.*): declared/.exec(line)?.[1] ?? line)
        .map((title) => title.replace('&lt;', '<').replace('&gt;', '>').replace('&amp;', '&'));
    });
  }

  test('ends with SIGTERM behind the request that is under way, and repeats nothing', async () => {
    let respond: (() => void) | undefined;
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      respond = () => accept(response, body);
    };
    const args = ['discord', '--types', 'incident.created'] as const;
    const child = await start(...args);
    await create({ title: 'Under way' });
    await eventually(() => respond);
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    // It waits for the response, and accepts nothing more.
    await create({ title: 'Later' });
    respond?.();
    expect(await closed).toEqual([0, null]);
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      accept(response, body);
    };
    await start(...args);
    await eventually(() => receiver.bodies.length > 1);
    expect(receiver.bodies.map((body) => /(Under way|Later): declared/.exec(JSON.parse(body).content)?.[1])).toEqual([
      'Under way',
      'Later',
    ]);
  });

  test('names the key that acted with its owner, and a person alone who acts in a session', async () => {
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      accept(response, body);
    };
    const { name } = (await client.get('/api/v1/me')).body.user;
    await start('discord', '--types', 'incident.created,timeline_event.created');
    const key = { name: 'Alertmanager', scopes: ['alerts:write'] };
    const { token } = (await client.post('/api/v1/settings/api-keys', key)).body;
    const monitor = system.anonymously().with({ Authorization: `Bearer ${token}` });
    const { body } = await monitor.post('/api/v1/alerts', { id: 'disk', status: 'firing', title: 'The disk is full' });
    const sent = () => receiver.bodies.map((each) => JSON.parse(each).content as string).join('\n');
    await eventually(() => sent().includes('timeline event created'));
    expect(sent()).toContain(`The disk is full: declared by Alertmanager (key of ${name}), `);
    expect(sent()).toContain(`timeline event created by Alertmanager (key of ${name}): `);

    const { user } = (await client.get('/api/v1/me')).body;
    const link = (await client.post(`/api/v1/settings/users/${user.id}/login-link`)).body.login_link.path;
    const origin = { 'Sec-Fetch-Site': 'same-origin' };
    const signedIn = await system
      .anonymously()
      .with({ Authorization: `Bearer ${link.slice(link.indexOf('#') + 1)}`, ...origin })
      .post('/app/session');
    const Cookie = String(signedIn.headers.get('set-cookie')).split(';')[0] ?? '';
    const path = `/api/v1/incidents/${body.results[0].incident.id}/timeline`;
    expect(
      (
        await system
          .anonymously()
          .with({ Cookie, ...origin })
          .post(path, { body: 'Looking' })
      ).status,
    ).toBe(201);
    await eventually(() => sent().includes('Looking'));
    expect(sent()).toContain(`timeline event created by ${name}: Looking`);
  });

  test('selects by types, severities and teams, also events of a timeline', async () => {
    const team = (await client.post('/api/v1/teams', { name: 'Payments' })).body.team.id;
    const service = { name: 'Checkout', slug: 'checkout', owner_team_id: team };
    expect((await client.post('/api/v1/services', service)).status).toBe(201);
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      accept(response, body);
    };
    const all = await start('json', '--from', 'now');
    const { severities } = (await client.get('/api/v1/configuration/severities')).body;
    const [high, low] = [severities[0].key, severities.at(-1).key];
    const first = await create({ title: 'own', severity: high, team_id: team });
    const second = await create({ title: 'through its service', severity: low, service: 'checkout' });
    const third = await create({ title: 'other', severity: low });
    for (const id of [first, second, third])
      expect((await client.post(`/api/v1/incidents/${id}/timeline`, { title: `note ${id}`, body: 'x' })).status).toBe(
        201,
      );
    const { revision } = (await client.get(`/api/v1/incidents/${third}`)).body.incident;
    const change = { 'If-Service-Resource-Version': String(revision) };
    expect((await client.patch(`/api/v1/incidents/${third}`, { severity: high }, change)).status).toBe(200);
    const names = () =>
      receiver.bodies.map((body) => {
        const { type, data } = JSON.parse(body);
        return `${type} ${data.incident?.id ?? ''}`.trim();
      });
    const everything = [
      ...[first, second, third].map((id) => `incident.created ${id}`),
      // A timeline event changes its incident, too.
      ...[first, second, third].flatMap((id) => [`incident.updated ${id}`, `timeline_event.created ${id}`]),
      `incident.updated ${third}`,
    ];
    const some = (...indexes: number[]) => indexes.map((index) => everything[index]!);
    await eventually(() => names().length >= everything.length);
    expect(names()).toEqual(everything);
    await end(all, 'SIGTERM');

    const cases: [string[], string[]][] = [
      [
        ['--team', 'payments'],
        ['team.changed', 'service.changed', ...everything.filter((name) => !name.endsWith(` ${third}`))],
      ],
      [['--team', String(team), '--types', 'timeline_event.created'], some(4, 6)],
      // The severity of an event of a timeline is that of its incident now.
      [['--severity', high], some(0, 3, 4, 8, 9)],
      [['--severity', low, '--types', 'incident.updated'], some(5, 7, 9)],
    ];
    for (const [flags, expected] of cases) {
      receiver.bodies.length = 0;
      const child = await start('json', '--from', 'beginning', ...flags);
      await eventually(() => names().length >= expected.length && names().at(-1) === expected.at(-1), {
        what: `${flags.join(' ')}: ${expected.join(', ')} in ${names().join(', ')}`,
      });
      expect([flags, names()]).toEqual([flags, expected]);
      await end(child, 'SIGTERM');
    }
  });

  test.each([
    [['--severity', 'sevX'], 2, '--severity: there is no severity sevX; there are: '],
    [['--team', 'nobody'], 1, '--team: there is no team nobody'],
    [['--team', '999999'], 1, '(not_found'],
    [['--types', 'incident.exploded'], 1, 'types: '],
    [['--console-url', 'nowhere'], 2, '--console-url: nowhere is not an address'],
    [['--template', '/nonexistent'], 2, 'cannot read /nonexistent'],
  ])('refuses %j before it begins', async (flags, code, message) => {
    const finished = await runHere(settings, argsOf('slack', ...flags));
    expect(finished).toMatchObject({ code, stdout: '', stderr: expect.stringContaining(message) });
    expect(finished.stderr).not.toContain('posting the events');
  });

  test('reads its address from a file, and says nothing of it', async () => {
    const file = path.join(folder.path, 'other-url');
    for (const [content, message] of [
      [receiver.url, 'has no address with https'],
      ['https://user:secret-path@127.0.0.1/', 'has an address with a user or a password'],
      ['https://127.0.0.1/secret-path https://127.0.0.1/', 'has no address, or more than one'],
      ['secret-path', 'has no address, or more than one'],
      ['', 'has no address, or more than one'],
    ] as const) {
      await writeFile(file, content);
      const { code, stderr } = await runHere(settings, ['notify', '--to', 'slack', '--url-file', file]);
      expect([code, stderr]).toEqual([2, `error: --url-file: ${file} ${message}\n`]);
    }
    const json = await runHere(settings, argsOf('json', '--template', file));
    expect(json).toMatchObject({ code: 2, stderr: 'error: --template: json is the event itself\n' });
  });

  test('stops at an address that is gone, and goes on from there at another one', async () => {
    receiver.answer = (response) => void response.writeHead(410).end('channel_is_archived');
    const args = ['teams', '--types', 'incident.created'] as const;
    const child = await start(...args);
    const closed = once(child, 'close');
    await create({ title: 'Nobody hears it' });
    expect(await closed).toEqual([1, null]);
    expect(output).toContain('error: the receiver responded with 410, so none arrives');
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      accept(response, body);
    };
    await start(...args);
    await eventually(() => receiver.bodies[0]);
    expect(receiver.bodies[0]).toContain('Nobody hears it');
  });

  test('leaves out what is refused alone, and stops when everything is', async () => {
    receiver.answer = (response, body) => {
      if (body.includes('poison')) return void response.writeHead(400).end();
      receiver.bodies.push(body);
      accept(response, body);
    };
    const args = [
      'google-chat',
      '--types',
      'incident.created',
      '--template',
      path.join(folder.path, 'template'),
    ] as const;
    await writeFile(path.join(folder.path, 'template'), '{{title}}');
    const child = await start(...args);
    for (const title of ['first', 'second', 'poison', 'third']) await create({ title });
    const texts = (): readonly string[] => receiver.bodies.join(' ').match(/first|second|third|fourth/g) ?? [];
    await eventually(() => texts().includes('third'));
    expect(new Set(texts())).toEqual(new Set(['first', 'second', 'third']));
    expect(output).toContain('is left out: the receiver responded with 400');

    const closed = once(child, 'close');
    receiver.answer = (response) => void response.writeHead(400).end();
    for (const title of ['fourth', 'b', 'c', 'd', 'e']) await create({ title });
    expect(await closed).toEqual([1, null]);
    expect(output).toContain('google-chat refused 5 messages in a row, which the next start sends again');
    receiver.bodies.length = 0;
    receiver.answer = (response, body) => {
      receiver.bodies.push(body);
      accept(response, body);
    };
    await start(...args);
    await eventually(() => texts().includes('fourth'));
    expect(new Set(texts())).toEqual(new Set(['fourth']));
  });

  test('says how to go on when the feed no longer has its place', async () => {
    const api = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '', 'http://api');
      const [status, body] = pathname.endsWith('/me')
        ? [200, { installation_id: 'i', workspace: { id: 1, slug: 'acme' } }]
        : searchParams.has('after')
          ? [410, { code: 'cursor_expired', message: 'The feed no longer has all events' }]
          : [200, { events: [], pagination: { next_cursor: 'c', limit: 1, has_more: false } }];
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    });
    const { port, close } = await loopbackServer(api);
    try {
      const own = { ...settings, TOCSIN_URL: `http://127.0.0.1:${port}` };
      for (const args of [argsOf('slack'), ['listen', '--forward-to', receiver.url]]) {
        const { code, stderr } = await runHere(own, args);
        expect([code, stderr]).toEqual([
          1,
          expect.stringContaining('go on with --reset from now, or with --reset --from beginning'),
        ]);
      }
    } finally {
      await close();
    }
  });

  test('keeps its places where only the user can read them, without the address', async () => {
    const files = (await readdir(folder.path)).filter((name) => name.startsWith('notify-'));
    expect(files.length).toBeGreaterThan(3);
    for (const file of files) expect(await readFile(path.join(folder.path, file), 'utf8')).not.toContain('secret-path');
  });

  test('posts through the proxy of HTTPS_PROXY', async () => {
    const proxy = await startConnectProxy();
    const chat = await startHttpsReceiver({ names: ['chat.example'] });
    proxy.targets.set('chat.example:443', chat.port);
    const ca = path.join(folder.path, 'chat.pem');
    await writeFile(ca, chat.ca);
    const file = path.join(folder.path, 'chat-url');
    await writeFile(file, 'https://chat.example/hook');
    const env = { ...settings, HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: ca };
    const child = startTocsin(env, ['notify', '--to', 'slack', '--url-file', file, '--from', 'beginning']);
    children.push(child);
    await create({ title: 'Behind a proxy' });
    await eventually(() => chat.requests.some(({ body }) => body.includes('Behind a proxy')), { what: 'the message' });
    expect(new Set(proxy.requests.map(({ target }) => target))).toEqual(new Set(['chat.example:443']));
    await end(child, 'SIGKILL');
    await Promise.all([proxy.stop(), chat.stop()]);
  });
});
