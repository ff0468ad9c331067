/** A process with a relay, for tests that stop or kill it. It ends when its parent does. */
import { openDatabase } from '@tocsin/postgres';
import { createMetrics } from '@tocsin/runtime';
import { AmqpBroker } from '../src/amqp.ts';
import { startRelay } from '../src/index.ts';
import { silent } from './brokers.ts';

const { RELAY_NAME = '', RELAY_DATABASE = '', RELAY_BROKER = '', RELAY_NAMESPACE = '' } = process.env;

const database = openDatabase({ url: RELAY_DATABASE, schema: 'messaging', application: RELAY_NAME, poolSize: 2 });
const broker = new AmqpBroker({ url: RELAY_BROKER, namespace: RELAY_NAMESPACE, log: silent });
startRelay({ database, broker, log: silent, metrics: createMetrics(RELAY_NAME), frozenAfter: 6_000 });
process.stdin.resume().once('end', () => process.exit());
