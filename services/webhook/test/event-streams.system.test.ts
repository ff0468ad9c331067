import { afterEach, expect, test } from '@jest/globals';
import { eventually, openEventStream, type StreamReader } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { running, runningSystem } from '../../../infra/verification/systems/running.ts';

const FEED = '/api/v1/events';

describeWithServers('waiting readers of the event feed', () => {
  const system = runningSystem();
  const client = running(async () => system.as());

  const streams: StreamReader[] = [];
  afterEach(() => {
    for (const stream of streams.splice(0)) stream.close();
  });

  async function stream(token: string): Promise<StreamReader> {
    const reader = await openEventStream(new URL(FEED, system.url), {
      Host: 'acme.localhost',
      Authorization: `Bearer ${token}`,
    });
    streams.push(reader);
    return reader;
  }

  const titlesIn = ({ messages }: StreamReader) =>
    messages.map(({ data }) => data.data.incident?.title as string | undefined);
  const create = async (title: string) => {
    expect((await client.post('/api/v1/incidents', { title })).status).toBe(201);
  };
  const receives = async (reader: StreamReader, titles: readonly (string | undefined)[]) => {
    await eventually(() => reader.messages.length >= titles.length, {
      what: `${titles.length} events`,
    });
    expect(titlesIn(reader)).toEqual(titles);
  };

  test('get what happens, as far as their keys may read it', async () => {
    const all = await stream(client.token);
    const teams = await stream((await system.as({ scopes: ['teams:read'] })).token);
    await eventually(() => all.lastEventId !== undefined && teams.lastEventId !== undefined);
    const poll = client.get(`${FEED}?wait=20&types=incident.created`);
    await create('One');
    await receives(all, ['One']);
    await client.post('/api/v1/teams', { name: 'Payments' });
    await eventually(() => teams.messages.length === 1 && all.messages.length === 2, { what: 'the team' });
    expect(teams.messages[0]).toEqual(all.messages[1]);
    // It may have begun after the first incident.
    await create('Two');
    const { body } = await poll;
    expect(['One', 'Two']).toContain(body.events[0].data.incident.title);
    await receives(all, ['One', undefined, 'Two']);
    expect(all.response.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      'x-ratelimit-limit': expect.stringMatching(/^\d+$/),
    });
  });
});
