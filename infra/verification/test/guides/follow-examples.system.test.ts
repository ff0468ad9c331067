import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, expect, test } from '@jest/globals';
import { type Client, eventually, tcpProxy } from '@tocsin/testing';
import { describeWithServersAnd } from '@tocsin/testing/suites';
import { ROOT } from '../../../installation/environment.ts';
import { running, runningSystem, temporaryFolder } from '../../systems/running.ts';

const EXAMPLES = path.join(ROOT, 'docs/guides/examples');
const WORKSPACE = 'acme';

/** A program of the guide that follows the feed. */
interface Follower {
  program: string;
  script: string;
  /** What it has printed of the events of incidents, as type and reference. */
  eventsIn(output: string): string[];
}

const PYTHON: Follower = {
  program: 'python3',
  script: 'follow.py',
  eventsIn: (output) => linesOf(output).filter((line) => line.startsWith('incident.')),
};

const SHELL: Follower = {
  program: 'sh',
  script: 'follow.sh',
  eventsIn: (output) =>
    linesOf(output)
      .filter((line) => line.startsWith('incident.'))
      .map((line) => {
        const [type = ''] = line.split(' ', 1);
        const { data } = JSON.parse(line.slice(type.length + 1)) as { data: { incident: { reference: string } } };
        return `${type} ${data.incident.reference}`;
      }),
};

const linesOf = (output: string) => output.split('\n').slice(0, -1);

describeWithServersAnd('python3')('the example in Python', () => {
  const { folder, ...steps } = testFollower(PYTHON);

  test('has the latest state of every incident', async () => {
    const states = () => {
      const database = new DatabaseSync(path.join(folder.path, 'incidents.sqlite'), { readOnly: true });
      try {
        return database
          .prepare('select body from incidents order by id')
          .all()
          .map(({ body }) => JSON.parse(String(body)));
      } finally {
        database.close();
      }
    };
    const { incidents } = (await steps.client().get('/api/v1/incidents')).body;
    const expected = incidents.map(({ id, title }: { id: number; title: string }) => ({ id, title }));
    await eventually(() => states().length === expected.length);
    expect(states()).toEqual(
      expected
        .toSorted((a: { id: number }, b: { id: number }) => a.id - b.id)
        .map((each: object) => expect.objectContaining(each)),
    );
  });
});

describeWithServersAnd('curl')('the example of a shell loop', () => {
  testFollower(SHELL);
});

/** The same for each: it is stopped, the gateway is away, and it misses nothing and repeats nothing. */
function testFollower({ program, script, eventsIn }: Follower) {
  const system = runningSystem(() => ({ settings: { DEFAULT_WORKSPACE: WORKSPACE } }));
  const network = running(
    async () => tcpProxy(system.url),
    async ({ close }) => close(),
  );
  const folder = temporaryFolder();
  const signedIn = running(async () => ({ client: await system.as({ workspace: WORKSPACE }) }));
  const client = (): Client & { token: string } => signedIn.client;
  let child: ChildProcess | undefined;
  let output = '';
  let errors = '';
  const start = (token = client().token) => {
    child = spawn(program, [path.join(EXAMPLES, script)], {
      cwd: folder.path,
      env: { PATH: process.env['PATH'], TOCSIN_URL: network.url, TOCSIN_TOKEN: token },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    child.stdout?.on('data', (bytes) => (output += String(bytes)));
    child.stderr?.on('data', (bytes) => (errors += String(bytes)));
    return child;
  };
  const stop = async () => {
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'close');
    // Its group: the shell has a process for each part of a pipeline.
    process.kill(-child.pid, 'SIGKILL');
    await ended;
  };
  afterAll(stop);

  const create = async (title: string) => (await client().post('/api/v1/incidents', { title })).body.incident;
  const printed = async (...events: string[]) => {
    await eventually(() => eventsIn(output).length >= events.length, { what: `${events.join()} in ${errors}` });
    expect(eventsIn(output)).toEqual(events);
    output = '';
  };

  test('prints what happens', async () => {
    start();
    // The Python program begins with what happens after its start.
    await eventually(async () => {
      await create('First');
      return eventsIn(output).length > 0 || child?.exitCode !== null;
    });
    expect([eventsIn(output).length > 0, errors]).toEqual([true, '']);
    await stop();
    output = '';
  });

  test('goes on where it stopped', async () => {
    const { id, human_id: reference } = await create('Second');
    await client().patch(`/api/v1/incidents/${id}`, { title: 'Changed' }, { 'If-Service-Resource-Version': '1' });
    start();
    await eventually(() => eventsIn(output).includes(`incident.updated ${reference}`));
    const own = eventsIn(output).filter((line) => line.endsWith(` ${reference}`));
    expect(own).toEqual([`incident.created ${reference}`, `incident.updated ${reference}`]);
    output = '';
  });

  test('goes on when the gateway was away', async () => {
    errors = '';
    network.cut();
    await eventually(() => errors !== '');
    const { human_id: reference } = await create('Third');
    network.restore();
    await printed(`incident.created ${reference}`);
  });

  test('ends when its token is wrong, and says so', async () => {
    await stop();
    errors = '';
    const [code] = await once(start('tcs_wrong'), 'close');
    expect(code).toBe(1);
    expect(errors).toContain('401');
  });

  return { folder, client };
}
