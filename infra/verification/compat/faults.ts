import { connect } from 'amqplib';
import { withClient } from '../../databases.ts';
import type { Release } from './release.ts';

/** What a fault is planted in. */
interface Planting {
  databaseUrl: string;
  amqpUrl: string;
  namespace: string;
  release: Release;
}

/** A change that a new release must not make. A run with a fault must fail: it shows that the checks would notice it. */
export interface Fault {
  name: string;
  what: string;
  /** Runs after the migrations, before any process starts. */
  beforeStart(planting: Planting): Promise<void>;
  /** What a failure of the run must say. */
  noticed: RegExp;
}

export const FAULTS: readonly Fault[] = [
  {
    name: 'column',
    what: 'a migration drops a column that the old release reads',
    beforeStart: async ({ databaseUrl }) => {
      await withClient(databaseUrl, async (client) => client.query('alter table catalog.services drop column tags'));
    },
    noticed: /column .*tags.* does not exist/,
  },
  {
    name: 'queue',
    what: 'a queue of the old release is declared with other arguments',
    beforeStart: async ({ amqpUrl, namespace, release: { contracts } }) => {
      const connection = await connect(amqpUrl);
      const channel = await connection.createChannel();
      const [queue] = Object.values(contracts.QUEUES);
      if (queue === undefined) throw new Error('the old release has no queue');
      await channel.assertQueue(contracts.queueName(namespace, queue), { durable: true });
      await connection.close();
    },
    noticed: /PRECONDITION_FAILED/,
  },
];
