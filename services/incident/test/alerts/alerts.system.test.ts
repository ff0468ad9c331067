import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import http, { createServer } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { event } from '@pagerduty/pdjs';
import { Liquid } from 'liquidjs';
import { createCertificate, eventually, loopbackServer, reservePorts } from '@tocsin/testing';
import { describeWithServers, describeWithServersAnd } from '@tocsin/testing/suites';
import { withClient } from '../../../../infra/installation/databases.ts';
import { ROOT } from '../../../../infra/installation/environment.ts';
import { running, runningSystem, temporaryFolder } from '../../../../infra/verification/systems/running.ts';

const CONFIGURATIONS = path.join(ROOT, 'gateway/console/src/settings/monitors');
const OBSERVABILITY = path.join(ROOT, 'infra/observability');
const ALERTS = '/api/v1/alerts';
const INCIDENTS = '/api/v1/incidents';

const RULE = `
groups:
  - name: shop
    rules:
      - alert: CheckoutFails
        # A scrape that comes late must not end the alert.
        expr: last_over_time(checkout_fails[5m]) == 1
        labels: { severity: critical, service: checkout }
        annotations: { summary: Checkout fails }
`;

/** A workspace, and configurations of the guide with its address and the token of a key for a monitor. */
function workspaceWithMonitor() {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: 'acme' } }));
  return running(async () => {
    const client = await system.as();
    const key = { name: 'Monitor', scopes: ['alerts:write'] };
    const { token } = (await client.post('/api/v1/settings/api-keys', key)).body;
    return {
      ...{ system, client, token, url: system.url },
      configuration: async (file: string) =>
        (await readFile(path.resolve(CONFIGURATIONS, file), 'utf8'))
          .replaceAll(/https:\/\/(\S+@)?acme\.tocsin\.example\.com/g, system.url.replace('://', '://$1'))
          .replaceAll('tcs_…', token),
      incidents: async () => (await client.get(`${INCIDENTS}?sort=created_at&direction=asc`)).body.incidents,
      timeline: async (id: number) =>
        (await client.get(`${INCIDENTS}/${id}/timeline`)).body.events.map(({ title }: { title: string }) => title),
    };
  });
}

/** Starts a program, and waits until it is ready at its address. */
async function startProgram(program: string, port: number, args: readonly string[]) {
  const child = spawn(program, [...args, `--web.listen-address=127.0.0.1:${port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes: Buffer) => (output += String(bytes)));
  const closed = once(child, 'close');
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    await closed;
  };
  const url = `http://127.0.0.1:${port}`;
  await eventually(async () => child.exitCode !== null || (await fetch(`${url}/-/ready`)).ok, { what: program });
  if (child.exitCode !== null) throw new Error(output);
  return { url, stop };
}

/** Starts two Alertmanagers that form a cluster; each can be started again. */
async function startPair({ folder, file }: { folder: string; file: string }, ...more: readonly string[]) {
  const [ports, clusterPorts] = [await reservePorts(2), await reservePorts(2)];
  const start = async (index: number) =>
    startProgram('prometheus-alertmanager', ports[index] ?? 0, [
      `--config.file=${file}`,
      `--storage.path=${path.join(folder, `alertmanager-${index}`)}`,
      `--cluster.listen-address=127.0.0.1:${clusterPorts[index]}`,
      `--cluster.advertise-address=127.0.0.1:${clusterPorts[index]}`,
      `--cluster.peer=127.0.0.1:${clusterPorts[1 - index]}`,
      '--cluster.settle-timeout=1s',
      // Neither learns in time that the other one has notified: both send everything.
      '--cluster.peer-timeout=0s',
      ...more,
    ]);
  const both = await Promise.all([start(0), start(1)]);
  return { ports, both, start };
}

/** How many notifications an Alertmanager has sent since its start. */
async function sentBy(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^alertmanager_notifications_total\{integration="webhook"\} (\d+)$/m.exec(metrics)?.[1]);
}

describeWithServersAnd('prometheus', 'prometheus-alertmanager')('Prometheus with a pair of Alertmanagers', () => {
  const workspace = workspaceWithMonitor();
  const folder = temporaryFolder();
  const metric = running(async () => {
    let value = 0;
    const server = createServer((_request, response) => response.end(`checkout_fails ${value}\n`));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return {
      address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
      set: (next: number) => (value = next),
      stop: async () => {
        server.closeAllConnections();
        await promisify(server.close.bind(server))();
      },
    };
  });
  const pair = running(async () => {
    let configuration = await workspace.configuration('alertmanager.yml');
    for (const time of ['30s', '5m', '1h']) {
      expect(configuration).toContain(`: ${time}\n`);
      configuration = configuration.replace(`: ${time}\n`, ': 1s\n');
    }
    const file = path.join(folder.path, 'alertmanager.yml');
    await writeFile(file, configuration);
    const { ports, both, start } = await startPair(
      { folder: folder.path, file },
      ...['--cluster.reconnect-interval=1s', '--cluster.gossip-interval=1h', '--cluster.pushpull-interval=1h'],
    );
    await eventually(async () => {
      const status = (await (await fetch(`${both[1].url}/api/v2/status`)).json()) as { cluster: { peers: object[] } };
      return status.cluster.peers.length === 2;
    });
    return {
      addresses: ports.map((port) => `127.0.0.1:${port}`),
      /** How many notifications each has sent since its start. */
      sent: async () => Promise.all(both.map(async ({ url }) => sentBy(url))),
      kill: async (index: 0 | 1) => both[index].stop('SIGKILL'),
      startAgain: async (index: 0 | 1) => void (both[index] = await start(index)),
      stop: async () => Promise.all(both.map(async ({ stop }) => stop())),
    };
  });
  running(async () => {
    const inFolder = async (name: string, content: string) => writeFile(path.join(folder.path, name), content);
    await inFolder('rules.yml', RULE);
    // JSON is YAML, too.
    const configuration = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [{ job_name: 'shop', static_configs: [{ targets: [metric.address] }] }],
      alerting: { alertmanagers: [{ static_configs: [{ targets: pair.addresses }] }] },
    };
    await inFolder('prometheus.yml', JSON.stringify(configuration));
    const [port = 0] = await reservePorts(1);
    return startProgram('prometheus', port, [
      `--config.file=${path.join(folder.path, 'prometheus.yml')}`,
      `--storage.tsdb.path=${path.join(folder.path, 'prometheus')}`,
      '--rules.alert.resend-delay=5s',
    ]);
  });

  /** Waits until both have sent twice more: what came of the first time is there then. */
  const bothNotify = async () => {
    const before = await pair.sent();
    await eventually(async () => (await pair.sent()).every((count, index) => count >= (before[index] ?? 0) + 2), {
      what: 'notifications of both',
    });
  };
  /** Waits until the only incident is like this. Returns its timeline. */
  const becomes = async (expected: object) => {
    const incident = await eventually(
      async () => {
        const incidents = await workspace.incidents();
        expect(incidents).toEqual([expect.objectContaining(expected)]);
        return incidents[0];
      },
      { what: JSON.stringify(expected) },
    );
    const timeline = await workspace.timeline(incident.id);
    if (process.env['TEST_LOG'] !== undefined) {
      const { human_id: reference, title, status, severity, recovered_at: recovered } = incident;
      const { notifications } = (await workspace.client.get(`${ALERTS}?limit=100`)).body;
      const outcomes = notifications.map(({ outcome }: { outcome: string }) => outcome).reverse();
      console.log({ reference, title, status, severity, recovered, timeline, outcomes: outcomes.join(' ') });
    }
    return timeline;
  };

  test('declares one incident, which ends, reopens, and survives the death of one of them', async () => {
    const [fires, ends] = ['Firing: CheckoutFails', 'Resolved: CheckoutFails'];
    const firing = { title: 'Checkout fails', severity: 'sev1', service: 'checkout', recovered_at: null };
    metric.set(1);
    await becomes({ ...firing, status: 'open' });
    await bothNotify();
    expect(await becomes({ ...firing, status: 'open' })).toEqual([fires]);

    await pair.kill(0);
    metric.set(0);
    const ended = { status: 'resolved', recovered_at: expect.any(String) };
    expect(await becomes(ended)).toEqual([fires, ends]);

    metric.set(1);
    await becomes({ ...firing, status: 'active' });
    await pair.startAgain(0);
    await bothNotify();
    expect(await becomes({ ...firing, status: 'active' })).toEqual([fires, ends, fires]);
    const { notifications } = (await workspace.client.get(`${ALERTS}?outcome=refused`)).body;
    expect(notifications).toEqual([]);
  });
});

describeWithServersAnd('prometheus-alertmanager')('a pair of Alertmanagers with six alerts and max_alerts: 3', () => {
  const workspace = workspaceWithMonitor();
  const folder = temporaryFolder();
  const pair = running(async () => {
    const given = await workspace.configuration('alertmanager.yml');
    expect(given).toContain('max_alerts: 300\n');
    const configuration = ['30s', '5m', '1h'].reduce(
      (text, time) => text.replace(`: ${time}\n`, ': 1s\n'),
      given.replace('max_alerts: 300\n', 'max_alerts: 3\n'),
    );
    const file = path.join(folder.path, 'alertmanager.yml');
    const write = async (groupBy: string) =>
      writeFile(file, configuration.replace(/group_by: \[.*\]/, `group_by: [${groupBy}]`));
    await write('alertname');
    const { both, start } = await startPair({ folder: folder.path, file });
    const post = async (url: string, alerts: object[]) =>
      fetch(`${url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(alerts),
      });
    return {
      /** Sends the alerts with these numbers to all that run, as Prometheus repeats them. */
      fire: async (numbers: readonly number[], end?: Date) => {
        const alerts = numbers.map((number) => ({
          labels: { alertname: 'DiskFull', instance: `db-${number}`, severity: 'critical' },
          startsAt: STARTED.toISOString(),
          ...(end !== undefined && { endsAt: end.toISOString() }),
        }));
        await Promise.allSettled(both.map(async ({ url }) => post(url, alerts)));
      },
      groupBy: async (labels: string) => {
        await write(labels);
        await Promise.all(both.map(async ({ url }) => fetch(`${url}/-/reload`, { method: 'POST' })));
      },
      restart: async () => {
        await Promise.all(both.map(async ({ stop }) => stop()));
        for (const index of [0, 1] as const) both[index] = await start(index);
      },
      kill: async (index: 0 | 1) => both[index].stop('SIGKILL'),
      stop: async () => Promise.all(both.map(async ({ stop }) => stop())),
    };
  });
  const STARTED = new Date(Date.now() - 60_000);
  const ALL = [1, 2, 3, 4, 5, 6];

  /** How many notifications have come, about. */
  const count = async () => (await workspace.client.get(`${ALERTS}?limit=1`)).body.notifications[0]?.id ?? 0;
  /** Fires again and again, until some more notifications have come. */
  const hear = async (numbers: readonly number[]) => {
    const before = await count();
    await eventually(
      async () => {
        await pair.fire(numbers);
        return (await count()) >= before + 3;
      },
      { what: 'notifications' },
    );
  };
  const open = async () =>
    (await workspace.incidents()).filter(({ status }: { status: string }) => status !== 'resolved');

  test('stands for all until the last has ended, while routes are edited and they restart and die', async () => {
    await hear(ALL);
    expect(await open()).toHaveLength(1);
    // Those in a notification have ended, others are cut off.
    await pair.fire([1, 2, 3], new Date());
    await hear([4, 5, 6]);
    expect(await open()).toHaveLength(1);
    // Another group can only be recognised by what was in a notification.
    await eventually(
      async () => {
        await pair.fire([4, 5, 6]);
        return (await workspace.client.get(`${ALERTS}?outcome=added`)).body.notifications.length > 0;
      },
      { what: 'those that were cut off' },
    );

    await pair.groupBy('alertname, severity');
    await hear([4, 5, 6]);
    expect(await open()).toHaveLength(1);
    expect(await workspace.incidents()).toHaveLength(1);

    await pair.restart();
    await hear([4, 5, 6]);
    expect(await open()).toHaveLength(1);
    await pair.kill(0);
    await hear([4, 5, 6]);
    expect(await workspace.incidents()).toHaveLength(1);

    await eventually(
      async () => {
        await pair.fire([4, 5, 6], new Date());
        return (await open()).length === 0;
      },
      { what: 'the end of all' },
    );
    const [incident] = await workspace.incidents();
    expect(incident.recovered_at).not.toBeNull();
  });
});

describeWithServersAnd('prometheus', 'prometheus-alertmanager')('the configuration of Compose', () => {
  const workspace = workspaceWithMonitor();
  const folder = temporaryFolder();
  const written = async (name: string, content: string) => {
    const file = path.join(folder.path, name);
    await writeFile(file, content);
    return file;
  };
  /** The alarms that came to what the operator adds. */
  const elsewhere = running(async () => {
    const alarms = new Set<string>();
    const server = createServer((request, response) => {
      json(request).then(
        (body) => {
          const { alerts } = body as { alerts: { labels: { alertname: string } }[] };
          for (const { labels } of alerts) alarms.add(labels.alertname);
          response.end();
        },
        () => response.destroy(),
      );
    });
    const { port, close } = await loopbackServer(server);
    return { alarms, url: `http://127.0.0.1:${port}`, stop: close };
  });
  const alertmanager = running(async () => {
    const given = await workspace.configuration(path.join(OBSERVABILITY, 'alertmanager.yaml'));
    expect(given).toContain('- name: beside-tocsin\n');
    const configuration = given
      .replaceAll(/: (?:30s|1m|5m|1h)\n/g, ': 1s\n')
      .replace('- name: beside-tocsin\n', `$&    webhook_configs: [{ url: '${elsewhere.url}' }]\n`);
    const [port = 0] = await reservePorts(1);
    return startProgram('prometheus-alertmanager', port, [
      `--config.file=${await written('alertmanager.yml', configuration)}`,
      `--storage.path=${path.join(folder.path, 'alertmanager')}`,
      '--cluster.listen-address=',
    ]);
  });
  const prometheus = running(async () => {
    const given = await readFile(path.join(OBSERVABILITY, 'prometheus.yaml'), 'utf8');
    const [configuration = ''] = given
      .replace('evaluation_interval: 15s', 'evaluation_interval: 1s')
      // Without the alarms about processes that are not here.
      .replace('- rules.yaml\n', '')
      .replace('watchdog.yaml', path.join(OBSERVABILITY, 'watchdog.yaml'))
      .replace('alertmanager:9093', new URL(alertmanager.url).host)
      .split('scrape_configs:');
    const file = await written('prometheus.yml', configuration);
    const [port = 0] = await reservePorts(1);
    const start = async () =>
      startProgram('prometheus', port, [
        `--config.file=${file}`,
        `--storage.tsdb.path=${path.join(folder.path, 'prometheus')}`,
        '--rules.alert.resend-delay=1s',
      ]);
    let program = await start();
    return { stop: async () => program.stop(), startAgain: async () => void (program = await start()) };
  });

  const heartbeat = async () => (await workspace.client.get(`${ALERTS}/heartbeats`)).body.heartbeats[0];
  const heard = async () => {
    const before = Date.now();
    await eventually(async () => Date.parse((await heartbeat())?.heard_at) > before, { what: 'a heartbeat' });
  };
  const restart = async () => {
    await workspace.system.stopApp('incident');
    await workspace.system.startApp('incident');
  };

  test('sends the Watchdog as a heartbeat, also across a restart; when Prometheus stops, one incident is declared, which its start resolves', async () => {
    await heard();
    await restart();
    await heard();
    expect(await workspace.incidents()).toEqual([]);

    await prometheus.stop();
    await eventually(async () => (await (await fetch(`${alertmanager.url}/api/v2/alerts`)).text()).trim() === '[]', {
      what: 'the last alert',
    });
    // The minute passes at once.
    await eventually(
      async () => {
        await withClient(workspace.system.database.adminUrl, async (sql) =>
          sql.query('update incident.alert_heartbeats set due_at = now() where missed_at is null'),
        );
        return (await workspace.incidents()).length > 0;
      },
      { what: 'the incident' },
    );
    await restart();
    const [incident] = await workspace.incidents();
    expect(incident).toMatchObject({
      status: 'open',
      title: expect.stringMatching(/^Nothing heard from Watchdog since /),
    });
    expect(await heartbeat()).toMatchObject({ name: 'Watchdog', due_at: null, incident: { id: incident.id } });

    await prometheus.startAgain();
    await eventually(async () => (await workspace.incidents())[0].status === 'resolved', { what: 'the resolution' });
    expect(await workspace.incidents()).toHaveLength(1);
    expect(await heartbeat()).toMatchObject({ due_at: expect.any(String) });
  });

  test('sends all alarms to Tocsin, and those that it may be unable to take also elsewhere', async () => {
    const alarms = [
      { labels: { alertname: 'TocsinAppDown', severity: 'critical' }, annotations: { summary: 'No process answers' } },
      { labels: { alertname: 'TocsinLatencyHigh', severity: 'warning' }, annotations: { summary: 'It is slow' } },
    ];
    const body = JSON.stringify(alarms.map((alarm) => ({ ...alarm, startsAt: new Date().toISOString() })));
    const headers = { 'Content-Type': 'application/json' };
    expect((await fetch(`${alertmanager.url}/api/v2/alerts`, { method: 'POST', headers, body })).status).toBe(200);
    await eventually(
      async () => {
        const titles = (await workspace.incidents()).map(({ title }: { title: string }) => title);
        expect(titles.slice(1).toSorted()).toEqual(['It is slow', 'No process answers']);
        return true;
      },
      { what: 'both incidents' },
    );
    await eventually(() => elsewhere.alarms.size > 0, { what: 'the notification beside Tocsin' });
    expect([...elsewhere.alarms]).toEqual(['TocsinAppDown']);
  });
});

describeWithServers('a key that is rotated', () => {
  const workspace = workspaceWithMonitor();

  test('stays the monitor that it was', async () => {
    const { client } = workspace;
    const key = { name: 'Rotated', scopes: ['alerts:write'] };
    const made = (await client.post('/api/v1/settings/api-keys', key)).body;
    const alert = { id: 'disk', status: 'firing', title: 'Disk full', started_at: '2026-11-24T09:00:00Z' };
    const send = async (token: string, body: object) =>
      (await client.post(`${ALERTS}?on_end=resolve`, body, { Authorization: `Bearer ${token}` })).body.results[0];
    const { outcome, incident } = await send(made.token, alert);
    expect(outcome).toBe('declared');
    let { token, api_key: current } = made;
    for (const overlap of [1, 0]) {
      const rotation = { overlap_hours: overlap };
      ({ token, api_key: current } = (
        await client.post(`/api/v1/settings/api-keys/${current.id}/rotate`, rotation)
      ).body);
      expect(await send(token, alert)).toMatchObject({ outcome: 'unchanged', incident });
    }
    expect(await send(token, { ...alert, status: 'resolved' })).toMatchObject({ outcome: 'ended', incident });
    expect((await client.get(`${INCIDENTS}/${incident.id}`)).body.incident).toMatchObject({ status: 'resolved' });
  });
});

describeWithServers("clients of PagerDuty's Events API v2", () => {
  const workspace = workspaceWithMonitor();
  const certificate = running(async () => ({
    ...(await createCertificate(['localhost'])),
    stop: async () => undefined,
  }));
  /** Its clients use HTTPS alone, as in front of an installation. */
  const proxy = running(async () => {
    const server = https.createServer({ cert: certificate.cert, key: certificate.key }, (request, response) => {
      const { method, headers } = request;
      const forwarded = http.request(new URL(request.url ?? '', workspace.url), { method, headers }, (reply) => {
        response.writeHead(reply.statusCode ?? 500, reply.headers);
        reply.pipe(response);
      });
      request.pipe(forwarded);
    });
    await once(server.listen(0, 'localhost'), 'listening');
    return {
      server: `localhost:${(server.address() as AddressInfo).port}${ALERTS}/pagerduty`,
      stop: async () => promisify(server.close.bind(server))(),
    };
  });

  test('its own client for JavaScript triggers, acknowledges and resolves, with the token as routing key', async () => {
    const agent = new https.Agent({ ca: certificate.cert });
    const send = async (event_action: string, more: object = {}) => {
      const data = { routing_key: workspace.token, event_action, ...more } as Parameters<typeof event>[0]['data'];
      const { status, data: reply } = await event({ data, server: proxy.server, ...{ agent } });
      return { status, reply };
    };
    const payload = {
      ...{ summary: 'Checkout is slow', source: 'probe-1', severity: 'critical' },
      timestamp: '2026-11-24T09:58:00.000+0000',
    };
    const { status, reply } = await send('trigger', { payload });
    expect([status, reply]).toEqual([
      202,
      { status: 'success', message: 'Event processed', dedup_key: expect.any(String) },
    ]);
    const { dedup_key } = reply as { dedup_key: string };
    for (const action of ['acknowledge', 'resolve'])
      expect(await send(action, { dedup_key })).toEqual({ status: 202, reply: { ...reply } });
    const [incident] = await workspace.incidents();
    expect(incident).toMatchObject({ severity: 'sev1', impact_started_at: '2026-11-24T09:58:00.000Z' });
    const verbs = (await workspace.timeline(incident.id)).map((title: string) => title.split(':')[0]);
    expect(verbs).toEqual(['Firing', 'Acknowledged', 'Resolved']);
    expect((await send('trigger', { routing_key: 'R0UT1NGK3Y', payload })).status).toBe(401);
  });

  test('the response has what the client for Python and the script of Zabbix look for', async () => {
    const url = `${workspace.url}${ALERTS}/pagerduty/v2/enqueue`;
    const headers = { 'Content-Type': 'application/json' };
    const payload = { summary: 'Problem: disk', source: 'zabbix', severity: 'warning', custom_details: { Event: '7' } };
    const trigger = { routing_key: workspace.token, event_action: 'trigger', dedup_key: 'zabbix-7', payload };
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(trigger) });
    // One checks the status 202, both read `status` and `dedup_key`.
    expect(response.status).toBe(202);
    expect(await response.json()).toMatchObject({ status: 'success', dedup_key: 'zabbix-7' });
    const body = JSON.stringify({ ...trigger, event_action: 'started' });
    const refused = await fetch(url, { method: 'POST', headers, body });
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ message: expect.any(String), field: 'event_action' });
  });
});

describeWithServersAnd('curl')('the commands and templates of the guide', () => {
  const workspace = workspaceWithMonitor();
  const shell = async (script: string) => JSON.parse((await promisify(execFile)('sh', ['-c', script])).stdout);

  test.each(['curl.sh', 'pagerduty.sh'])('%s declares an incident, and ends it', async (file) => {
    const script = await workspace.configuration(file);
    const outcomes = [];
    for (const each of [script, script.replace('"firing"', '"resolved"').replace('"trigger"', '"resolve"')])
      outcomes.push((await shell(each)).results[0].outcome);
    expect(outcomes).toEqual(['declared', 'ended']);
  });

  test.each<[file: string, body: RegExp, values: [RegExp, string][]]>([
    [
      'gatus.yml',
      /body: \|\n([^]+?)\n {4}\w/,
      [
        [/\[ALERT_TRIGGERED_OR_RESOLVED\]/, 'firing'],
        [/\[ENDPOINT_URL\]/, 'https://shop.example.com'],
        [/\[[A-Z_]+\]/g, 'shop'],
      ],
    ],
    [
      'datadog.txt',
      /Payload:\n([^]+)/,
      [
        [/\$LINK/, 'https://app.datadoghq.com'],
        [/\$[A-Z_]+/g, 'P2'],
      ],
    ],
  ])('the body of %s is an alert', async (file, body, values) => {
    const template = body.exec(await workspace.configuration(file))?.[1] ?? '';
    const alert = JSON.parse(values.reduce((text, [placeholder, value]) => text.replace(placeholder, value), template));
    const { status, body: reply } = await workspace.client.post(ALERTS, alert);
    expect({ status, reply }).toMatchObject({ status: 202, reply: { results: [{ outcome: 'declared' }] } });
    expect(reply.left_out).toEqual([]);
  });

  test('the template of Uptime Kuma ends an alert only when it is up, and keeps notices apart', async () => {
    const [, template = ''] = /Custom Body:\n([^]+)/.exec(await workspace.configuration('uptime-kuma.txt')) ?? [];
    const results = [];
    for (const heartbeatJSON of [{ status: 0 }, null, { status: 3 }, { status: 2 }, { status: 1 }]) {
      const values = { heartbeatJSON, monitorJSON: { id: 7, name: 'The "shop"' }, msg: 'x'.repeat(2_000) };
      const body = JSON.parse(await new Liquid().parseAndRender(template, values));
      const { status, body: reply } = await workspace.client.post(`${ALERTS}?on_end=resolve`, body);
      results.push([status, reply.results[0].identity, reply.results[0].outcome]);
    }
    expect(results).toEqual([
      [202, 'monitor-7', 'declared'],
      [202, 'monitor-7 notice', 'declared'],
      [202, 'monitor-7', 'unchanged'],
      [202, 'monitor-7', 'unchanged'],
      [202, 'monitor-7', 'ended'],
    ]);
  });
});
