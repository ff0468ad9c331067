import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateSecretKeys, type Knex, openDatabase } from '@tocsin/runtime';
import { createTestDatabase, type FakeSlack, startSlack, type TestDatabase } from '@tocsin/testing';
import { connectChat } from '../src/administration.ts';
import { slackChat } from '../src/clients/slack.ts';
import { schema } from '../src/schema.ts';
import { chats } from '../src/usecases/chats.ts';

let testDatabase: TestDatabase;
let database: Knex;
let slack: FakeSlack;
beforeAll(async () => {
  slack = await startSlack();
  testDatabase = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
  const url = testDatabase.url(schema.name);
  database = openDatabase({ url, schema: schema.name, application: 'test', poolSize: 2 });
});
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
  await slack.stop();
});

const chatsWith = (secretKeys: string) =>
  chats({ database, secretKeys, open: (token) => slackChat({ token, apiUrl: slack.url, timeout: 5_000 }) });
const connect = async (workspaceId: number, secretKeys: string) =>
  connectChat(database, { workspaceId, botToken: slack.token, channelTemplate: undefined, secretKeys });

test('a secret key can be changed: tokens are sealed anew, and the old key can go', async () => {
  const [old, lost, fresh] = ['old', 'lost', 'fresh'].map((id) => generateSecretKeys().replace(/^[^:]+/, id));
  await connect(1, old!);
  await connect(2, fresh!);
  await connect(3, lost!);
  await expect(chatsWith(fresh!).find(1, 'in-the-background')).rejects.toMatchObject({ fault: 'not_connected' });
  await chatsWith(`${fresh},${old}`).reseal();

  for (const workspaceId of [1, 2]) {
    const connected = await chatsWith(fresh!).find(workspaceId, 'in-the-background');
    await expect(connected?.chat.check()).resolves.toBeUndefined();
  }
  // One that nobody can open keeps the others from nothing.
  await expect(chatsWith(fresh!).find(3, 'in-the-background')).rejects.toMatchObject({ fault: 'not_connected' });
  await expect(chatsWith(lost!).find(3, 'in-the-background')).resolves.toBeDefined();
});

test('a token opens for its own workspace alone', async () => {
  const keys = generateSecretKeys();
  await connect(11, keys);
  const [row] = await database('chat_connections').where({ workspace_id: 11 }).select('key_id', 'token_box');
  await connect(12, keys);
  await database('chat_connections').where({ workspace_id: 12 }).update(row);
  await expect(chatsWith(keys).find(12, 'in-the-background')).rejects.toMatchObject({ fault: 'not_connected' });
});
