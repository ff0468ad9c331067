import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchangeName } from '@tocsin/schemas';
import { eventually, startRabbitMq } from '@tocsin/testing';
import { closedAfterEach, describeWithProgram, describeWithServersAndOwnRabbitMq } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { ROOT } from '../../../installation/environment.ts';
import { guideCommands } from './guide-commands.ts';
import { running, runningSystem, temporaryFolder } from '../../systems/running.ts';

/** Debian's Python has Debian's pika; another one may come first in the path. */
const PYTHON = ['python3', '/usr/bin/python3'].find((each) => spawnSync(each, ['-c', 'import pika']).status === 0);
const NAMESPACE = 'tocsin';
const QUEUE = 'billing.incidents';
/** Of a message that fails, which takes three seconds. */
const DELIVERIES = 2;

describeWithProgram(PYTHON ?? 'python3-pika')('the consumer in Python, as a user of the guide', () => {
  describeWithServersAndOwnRabbitMq('with a broker of its own', () => {
    const folder = temporaryFolder();
    const broker = running(startRabbitMq);
    const opened = closedAfterEach();
    const system = runningSystem(() => ({ amqpUrl: broker.url, namespace: NAMESPACE }));
    const client = running(async () => system.as());
    let consumer: ReturnType<typeof start>;

    function start() {
      const child = spawn(PYTHON ?? '', [path.join(ROOT, 'docs/guides/examples/consumer.py')], {
        cwd: folder.path,
        env: {
          PATH: process.env['PATH'],
          AMQP_URL: Object.assign(new URL(broker.url), { username: 'billing', password: '<password>' }).href,
          DELIVERIES: String(DELIVERIES),
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (output += String(bytes)));
      const closed = once(child, 'close') as Promise<[number | null]>;
      const count = (line: string) => output.split('\n').filter((each) => each === line).length;
      return {
        count,
        prints: async (line: string, times = 1) =>
          eventually(
            () => {
              if (child.exitCode !== null) throw new Error(output);
              return count(line) >= times;
            },
            { what: line },
          ),
        stop: async () => {
          child.kill('SIGTERM');
          return (await closed)[0];
        },
      };
    }

    beforeAll(async () => {
      for (const command of await guideCommands()) await broker.control(...command);
      consumer = start();
      await consumer.prints('consuming');
    });
    afterAll(async () => consumer?.stop());

    const openChannel = async () => opened(await connect(broker.url)).createConfirmChannel();
    const publish = async (...bodies: string[]) => {
      const channel = await openChannel();
      for (const body of bodies) channel.publish(exchangeName(NAMESPACE), 'incident.updated', Buffer.from(body));
      await channel.waitForConfirms();
    };
    const declare = async (title: string) => (await client.post('/api/v1/incidents', { title })).body.incident;
    const titleOf = (id: number) => {
      // The consumer may be writing.
      const database = new DatabaseSync(path.join(folder.path, 'incidents.sqlite'), {
        readOnly: true,
        timeout: 60_000,
      });
      try {
        return database.prepare('select title from incidents where id = ?').get(id)?.['title'];
      } finally {
        database.close();
      }
    };

    test('handles every event once, and keeps the newest revision', async () => {
      const channel = await openChannel();
      const { queue } = await channel.assertQueue('', { exclusive: true });
      await channel.bindQueue(queue, exchangeName(NAMESPACE), 'incident.created');
      const bodies: string[] = [];
      await channel.consume(queue, (message) => bodies.push(String(message?.content)), { noAck: true });

      const { id, human_id: reference } = await declare('First');
      await consumer.prints(`incident.created ${reference}`);
      const renamed = await client.patch(
        `/api/v1/incidents/${id}`,
        { title: 'Renamed' },
        { 'If-Service-Resource-Version': '1' },
      );
      expect(renamed.status).toBe(200);
      await consumer.prints(`incident.updated ${reference}`);
      const [created = ''] = await eventually(() => bodies.length > 0 && bodies);
      await publish(created, JSON.stringify({ ...JSON.parse(created), id: 'of another ID' }));
      await consumer.prints(`incident.created ${reference}`, 2);
      const last = await declare('Last');
      await consumer.prints(`incident.created ${last.human_id}`);
      expect(consumer.count(`incident.created ${reference}`)).toBe(2);
      expect(titleOf(id)).toBe('Renamed');
    });

    test('stops when it is asked to, and goes on where it was', async () => {
      expect(await consumer.stop()).toBe(0);
      const { human_id: reference } = await declare('Meanwhile');
      consumer = start();
      await consumer.prints(`incident.created ${reference}`);
      expect(consumer.count('incident.created INC-1')).toBe(0);
    });

    test('connects again after a restart of the broker', async () => {
      await broker.kill();
      await broker.start();
      const { human_id: reference } = await declare('After the restart');
      await consumer.prints(`incident.created ${reference}`);
    });

    test('leaves what it cannot handle to the dead letters, and handles others meanwhile', async () => {
      const envelope = { id: 'poison', type: 'incident.updated', schema_version: 1, data: {} };
      const poison = ['no JSON', JSON.stringify({ ...envelope, schema_version: 2 }), JSON.stringify(envelope)];
      await publish(...poison);
      const { human_id: reference } = await declare('Beside them');
      await consumer.prints(`incident.created ${reference}`);
      const channel = await openChannel();
      const dead = new Set<string>();
      await channel.consume(`${QUEUE}.dead`, (message) => dead.add(String(message?.content)));
      await eventually(() => dead.size === poison.length, { what: 'the dead letters' });
      expect([...dead].toSorted()).toEqual(poison.toSorted());
    });
  });
});
