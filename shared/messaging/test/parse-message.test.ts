import { expect, test } from '@jest/globals';
import { outboxRow } from '../src/index.ts';
import { InvalidMessage, parseMessage, UnknownType } from '../src/parse-message.ts';
import { incidentCreated } from './database.ts';

const event = JSON.parse(outboxRow(incidentCreated('INC-1')).body);

test.each<[string, string]>([
  ['not JSON', 'certainly not'],
  ['not an object', '[]'],
  ['not an envelope', '{}'],
  ['an invalid ID', JSON.stringify({ ...event, id: '7' })],
  ['an unknown schema version', JSON.stringify({ ...event, schema_version: 2 })],
  ['data of another type', JSON.stringify({ ...event, data: { incident: { id: 'one' } } })],
])('a message is malformed: %s', (_, body) => expect(() => parseMessage(body)).toThrow(InvalidMessage));

test.each(['incident.exploded', 'constructor'])('the type %s is unknown, whatever its data', (type) =>
  expect(() => parseMessage(JSON.stringify({ ...event, type, data: { anything: 1 } }))).toThrow(UnknownType),
);
