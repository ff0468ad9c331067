import { afterAll, expect, test } from '@jest/globals';
import { openDatabase } from '@tocsin/postgres';
import { createLogger, createMetrics, generateSecretKeys } from '@tocsin/runtime';
import { createTestDatabase, startSlack } from '@tocsin/testing';
import { stopAfterAll } from '@tocsin/testing/suites';
import { connectChat } from '../../src/administration.ts';
import { slackChat } from '../../src/chat/clients/slack.ts';
import { schema } from '../../src/schema.ts';
import { chats, chatTokenRotation } from '../../src/chat/chats.ts';

const slack = stopAfterAll(await startSlack());
const testDatabase = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
const url = testDatabase.url(schema.name);
const database = openDatabase({ url, schema: schema.name, application: 'test', poolSize: 2 });
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

const chatsWith = (secretKeys: string) =>
  chats({ database, secretKeys, open: (token) => slackChat({ token, apiUrl: slack.url, timeout: 5_000 }) });
const connect = async (workspaceId: number, secretKeys: string) =>
  connectChat(database, { workspaceId, botToken: slack.token, channelTemplate: undefined, secretKeys });

test('after a key change the tokens are encrypted again and the old key can be removed', async () => {
  const [old, lost, fresh] = ['old', 'lost', 'fresh'].map((id) => generateSecretKeys().replace(/^[^:]+/, id));
  await connect(1, old!);
  await connect(2, fresh!);
  await connect(3, lost!);
  await expect(chatsWith(fresh!).find(1, 'background')).rejects.toMatchObject({ reason: 'not_connected' });
  const metrics = createMetrics('test');
  const log = createLogger({ app: 'test', level: 'silent' });
  await chatTokenRotation({ database, secretKeys: `${fresh},${old}`, log, metrics })();
  expect(await metrics.metrics()).toMatch(/^tocsin_chat_unopened_tokens\{.*\} 1$/m);

  for (const workspaceId of [1, 2]) {
    const connected = await chatsWith(fresh!).find(workspaceId, 'background');
    await expect(connected?.chat.check()).resolves.toBeUndefined();
  }
  // A token that cannot be decrypted does not affect the others.
  await expect(chatsWith(fresh!).find(3, 'background')).rejects.toMatchObject({ reason: 'not_connected' });
  await expect(chatsWith(lost!).find(3, 'background')).resolves.toBeDefined();
});

test('a token can only be decrypted for its own workspace', async () => {
  const keys = generateSecretKeys();
  await connect(11, keys);
  const [row] = await database('chat_connections').where({ workspace_id: 11 }).select('key_id', 'token_ciphertext');
  await connect(12, keys);
  await database('chat_connections').where({ workspace_id: 12 }).update(row);
  await expect(chatsWith(keys).find(12, 'background')).rejects.toMatchObject({ reason: 'not_connected' });
});
