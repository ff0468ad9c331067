import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer, request } from 'node:http';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { eventually, loopbackServer } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { createPast } from '../../verification/sources/data.ts';
import { PAGERDUTY_ENV, startPagerDuty } from '../../verification/sources/pagerduty.ts';
import { running, runningSystem, temporaryFolder } from '../../verification/systems/running.ts';
import { runTocsin, startTocsin, type TocsinSettings } from './tocsin-command.ts';

/** Without the one that has thousands of entries. */
const past = createPast(241).filter(({ number }) => number !== 5);
/** Those without a severity, or with one that nobody maps. */
const REFUSED = past.filter(({ priority }) => priority === undefined || priority === 'P0' || priority === 'P5').length;

/** One address, behind which different installations are, as `localhost:8080` is on different days. */
async function startAddress() {
  const address = { target: '', transfers: 0, mostTransfers: Infinity };
  const server = createServer((incoming, response) => {
    if (incoming.url?.startsWith('/api/v1/imports/') === true) address.transfers += 1;
    // The request does not arrive, and its client waits.
    if (address.transfers > address.mostTransfers) return;
    const { method, headers, url = '' } = incoming;
    const outgoing = request(new URL(url, address.target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    response.on('close', () => outgoing.destroy());
    incoming.pipe(outgoing);
  });
  const { port, close } = await loopbackServer(server);
  return Object.assign(address, { url: `http://127.0.0.1:${port}`, stop: close });
}

describeWithServers('what the command keeps', () => {
  const options = () => ({ settings: { DEFAULT_WORKSPACE: 'acme' } });
  const [first, second] = [runningSystem(options), runningSystem(options)];
  const clients = [running(async () => first.as()), running(async () => second.as())];
  const address = running(startAddress);
  const folder = temporaryFolder();
  let files: string;
  let mapping: string;

  /** The settings for one of two installations with the same address, and whose workspaces have the same ID. */
  function at(index: number): TocsinSettings {
    address.target = index === 0 ? first.url : second.url;
    return { TOCSIN_CONFIG_DIR: folder.path, TOCSIN_URL: address.url, TOCSIN_TOKEN: clients[index]?.token };
  }
  const fetchFrom = async (url: string, ...more: string[]) =>
    runTocsin(PAGERDUTY_ENV, ['import', 'pagerduty', 'fetch', files, '--url', url, ...more]);

  beforeAll(async () => {
    files = path.join(folder.path, 'pagerduty');
    mapping = path.join(folder.path, 'mapping.json');
    const api = await startPagerDuty(past, 10_000);
    try {
      expect(await fetchFrom(api.url, '--since', '2020-01-01')).toMatchObject({ code: 0 });
      for (const other of [
        ['--since', '2021-01-01'],
        ['--organization', 'other'],
      ])
        expect(await fetchFrom(api.url, ...other)).toMatchObject({
          ...{ code: 2, stdout: '' },
          stderr: expect.stringMatching(new RegExp(`^error: ${other[0]}: .* was begun with `)),
        });
      expect(await fetchFrom('http://127.0.0.1:1')).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(api.url),
      });
      const again = await runTocsin(PAGERDUTY_ENV, ['import', 'pagerduty', 'fetch', files]);
      expect([again.stderr, JSON.parse(again.stdout)]).toEqual(['', expect.objectContaining({ fetched: 0 })]);
    } finally {
      await api.stop();
    }
    await writeFile(mapping, JSON.stringify({ teams: { '*': null }, fields: { '*': null }, people: { '*': null } }));
  }, 120_000);

  const args = () => ['import', 'pagerduty', 'apply', files, '--mapping', mapping];
  /** Kills an apply after some of its requests. */
  async function breakOff(settings: TocsinSettings): Promise<void> {
    Object.assign(address, { transfers: 0, mostTransfers: 2 });
    const broken = startTocsin(settings, args());
    await eventually(() => address.transfers > 2, { what: 'the third request' });
    broken.kill('SIGKILL');
    await once(broken, 'close');
    address.mostTransfers = Infinity;
  }
  async function finish(settings: TocsinSettings) {
    const { code, stdout, stderr } = await runTocsin(settings, args());
    const { items, ...outcomes } = JSON.parse(stdout) as { items: { id: string }[] };
    return {
      code,
      outcomes,
      refused: items.map(({ id }) => id).toSorted(),
      goesOn: /goes on behind (\d+)/.exec(stderr)?.[1],
    };
  }
  const refusedIds = past
    .filter(({ priority }) => priority === undefined || priority === 'P0' || priority === 'P5')
    .map(({ number }) => `Q${String(number).padStart(6, '0')}`);
  const created = { created: past.length - REFUSED, refused: REFUSED, updated: 0, unchanged: 0 };

  test('an apply that was killed goes on with what it has been refused, and with its exit code', async () => {
    await breakOff(at(0));
    const { goesOn, ...finished } = await finish(at(0));
    expect(Number(goesOn)).toBeGreaterThan(50);
    expect(finished).toEqual({ code: 1, outcomes: created, refused: refusedIds });
    expect(await finish(at(0))).toEqual({
      ...{ code: 1, refused: refusedIds, goesOn: undefined },
      outcomes: { ...created, created: 0, unchanged: created.created },
    });
  });

  test('an apply that was killed leaves nothing out in another installation', async () => {
    await breakOff(at(0));
    expect(await finish(at(1))).toEqual({ code: 1, outcomes: created, refused: refusedIds, goesOn: undefined });
    const incidents = (await clients[1]!.get('/api/v1/incidents?limit=1&q=Incident 1 in')).body.incidents;
    expect(incidents).toHaveLength(1);
  });

  test('listen begins anew in another installation, and for another resource', async () => {
    const lines: string[] = [];
    const receiver = createServer((incoming, response) => {
      incoming.resume();
      response.writeHead(204).end();
    });
    const { port, close } = await loopbackServer(receiver);
    const listen = async (index: number, ...more: string[]) => {
      const forward = ['listen', '--forward-to', `http://127.0.0.1:${port}/`, '--types', 'team.changed'];
      const child = startTocsin(at(index), [...forward, ...more]);
      lines.length = 0;
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes) => lines.push(String(bytes)));
      await eventually(() => lines.join('').includes('listening to'), { what: 'the listener' });
      const secret = /whsec_\S+/.exec(lines.join(''))?.[0];
      expect((await clients[index]!.post('/api/v1/teams', { name: `Team ${secret ?? ''}` })).status).toBe(201);
      if (more.length === 0) await eventually(() => lines.join('').includes('204'), { what: 'the event' });
      child.kill('SIGINT');
      expect(await once(child, 'close')).toEqual([0, null]);
      return secret;
    };
    try {
      const secrets = [await listen(0), await listen(1), await listen(0, '--resource', 'team:1'), await listen(0)];
      expect(new Set(secrets).size).toBe(3);
      expect(secrets[3]).toBe(secrets[0]);
    } finally {
      await close();
    }
  });

  test('a damaged end of the progress is left out', async () => {
    await breakOff(at(0));
    const progress = path.join(files, 'applied.ndjson');
    await writeFile(progress, (await readFile(progress, 'utf8')).slice(0, -20));
    expect(await finish(at(0))).toMatchObject({ code: 1, refused: refusedIds });
  });
});
