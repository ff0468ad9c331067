import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { exchangeName } from '@tocsin/schemas';
import { eventually, type TcpProxy, tcpProxy, testServers } from '@tocsin/testing';
import { describeWithBroker } from '@tocsin/testing/suites';
import { type ChannelModel, connect } from 'amqplib';
import { outbox } from '../src/index.ts';
import { type OpenBroker, openBroker } from './brokers.ts';
import { incidentArchived, type MessagingDatabase, messagingDatabase } from './database.ts';

const SUBJECTS = 12;
const RELAYS = ['relay-a', 'relay-b', 'relay-c'];
/** Changes whose events have not arrived yet. */
const BACKLOG = 500;

interface Published {
  id: string;
  subject: number;
  revision: number;
}

describeWithBroker('relays in several processes', () => {
  let database: MessagingDatabase;
  let open: OpenBroker & { namespace: string };
  let connection: ChannelModel;
  /** Between the relays and the broker. */
  let proxy: TcpProxy;
  const processes = new Map<string, ChildProcess>();
  /** In the order of their arrival in a queue. */
  const arrived: Published[] = [];
  const revisions = Array.from({ length: SUBJECTS }, () => 0);

  const start = (name: string) => {
    const child = spawn(process.execPath, [path.join(import.meta.dirname, 'relay-process.ts')], {
      stdio: ['pipe', 'inherit', 'inherit'],
      env: {
        ...process.env,
        NODE_OPTIONS: '',
        RELAY_NAME: name,
        RELAY_DATABASE: database.url,
        RELAY_BROKER: proxy.url,
        RELAY_NAMESPACE: open.namespace,
      },
    });
    processes.set(name, child);
  };

  beforeAll(async () => {
    database = await messagingDatabase();
    open = await openBroker(testServers().amqpUrl ?? '');
    proxy = await tcpProxy(testServers().amqpUrl ?? '');
    connection = await connect(testServers().amqpUrl ?? '');
    const channel = await connection.createChannel();
    const { queue } = await channel.assertQueue('', { exclusive: true });
    await channel.bindQueue(queue, exchangeName(open.namespace), '#');
    await channel.consume(
      queue,
      (message) => {
        const { id, data } = JSON.parse(message?.content.toString() ?? '');
        arrived.push({ id, subject: data.incident.id, revision: data.incident.revision });
      },
      { noAck: true },
    );
    await database.knex('effects').insert(revisions.map((_, index) => ({ id: index + 1, reference: '' })));
    RELAYS.forEach(start);
  });
  afterAll(async () => {
    for (const child of processes.values()) child.kill('SIGKILL');
    await connection.close();
    await proxy.close();
    await open.remove();
    await database.drop();
  });

  /** Raises a subject's revision under the lock of its row, as commands do. */
  const change = async (subject: number) =>
    database.knex.transaction(async (trx) => {
      await trx('effects').where({ id: subject }).forUpdate().first('id');
      const revision = ((revisions[subject - 1] as number) += 1);
      const event = incidentArchived('INC-1');
      await outbox(trx).add({
        ...event,
        data: { incident: { ...event.data.incident, id: subject, revision } },
      });
    });

  /** Changes subjects at the same time until `isDone`, not much faster than the changes are published. */
  const changeUntil = async (isDone: () => boolean) => {
    let next = 0;
    const writers = Array.from({ length: 4 }, async () => {
      while (!isDone()) {
        if (total() - arrived.length > BACKLOG) await delay(20);
        else await change(1 + ((next += 5) % SUBJECTS));
      }
    });
    await Promise.all(writers);
  };

  /** Stops a relay while it waits for confirms, and so holds the lock. */
  const freezeHolder = async (): Promise<string> => {
    proxy.stall();
    const name = await eventually(
      async () => {
        const name = await holder();
        const child = name === undefined ? undefined : processes.get(name);
        if (name === undefined || child === undefined) return undefined;
        child.kill('SIGSTOP');
        if ((await holder()) === name) return name;
        child.kill('SIGCONT');
        return undefined;
      },
      { what: 'a relay that holds the lock' },
    );
    proxy.restore();
    return name;
  };

  const holder = async (): Promise<string | undefined> => {
    const { rows } = await database.knex.raw<{ rows: { application_name: string }[] }>(
      `select application_name from pg_locks join pg_stat_activity using (pid)
       where locktype = 'advisory' and granted and datname = current_database() and application_name like 'relay-%'`,
    );
    return rows[0]?.application_name;
  };

  const total = () => revisions.reduce((sum, revision) => sum + revision, 0);
  const distinct = () => new Set(arrived.map(({ id }) => id)).size;
  const progress = async (what: string) => {
    const before = distinct();
    await eventually(() => distinct() > before + 300, { what: `${what} publishing` });
  };
  const allPublished = async () => eventually(() => distinct() === total(), { what: 'the arrival of every event' });

  test('publish every event of a subject in the order of its revisions, while one freezes and one is killed', async () => {
    let done = false;
    const writing = changeUntil(() => done);
    try {
      await progress('the relays');
      // The others take over while it is still stopped.
      const frozen = await freezeHolder();
      await progress('another relay');
      processes.get(frozen)?.kill('SIGCONT');
      await progress('the relays');

      const killed = await freezeHolder();
      processes.get(killed)?.kill('SIGKILL');
      await progress('the last relays');
    } finally {
      done = true;
      await writing;
    }
    await allPublished();
    await eventually(async () => (await database.waiting()) === 0);

    // A frozen or killed relay may have published some events a second time, never a newer one first.
    const seen = new Set<string>();
    const first = arrived.filter(({ id }) => !seen.has(id) && seen.add(id));
    for (let subject = 1; subject <= SUBJECTS; subject += 1) {
      const order = first.filter((event) => event.subject === subject).map(({ revision }) => revision);
      expect(order).toEqual(Array.from({ length: revisions[subject - 1] as number }, (_, index) => index + 1));
    }
  });
});
