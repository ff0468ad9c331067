import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually, holdTransaction } from '@tocsin/testing';
import { INCIDENTS } from '../chat/chat.ts';
import { ANA, BEN, startCommandTest } from './commands.ts';

const commands = await startCommandTest();
const { chat, slack, answers, workspace, slash, shortcut, ask, incident } = commands;
const { service } = chat;

afterEach(() => {
  slack.down = false;
});

/** An incident with a channel, and its reference. */
async function withChannel(properties: object = {}) {
  const channel = slack.addChannel({ name: `c${slack.channels.length}`, creator: slack.user });
  const { id, human_id: reference } = await workspace.declare({ slack_channel_id: channel.id, ...properties });
  return { id, reference, channel: channel.id };
}

const timeline = async (id: number) =>
  (await workspace.client.get(`${INCIDENTS}/${id}/timeline`)).body.events as Record<string, unknown>[];

test('declares an incident for the person, in Slack', async () => {
  const text = await ask(
    slash('declare &lt;Checkout&gt; is down, see <https://acme.example/d> severity:"sev 1" service:checkout'),
  );
  const [, reference = ''] =
    /^(INC-\d+) \(&lt;Checkout&gt; is down, see https:\/\/acme\.example\/d\) is declared\.$/.exec(text) ?? [];
  const { body } = await workspace.client.get(`/api/v1/incident-references/${reference}`);
  expect(body.incident).toMatchObject({
    ...{ title: '<Checkout> is down, see https://acme.example/d', severity: 'sev1', service: 'checkout' },
    ...{ created_by: '42', created_by_key: { name: 'Slack', prefix: 'tcn_slack' } },
  });
});

test('changes the incident of the channel, or the one that is named', async () => {
  const { id, reference, channel } = await withChannel();
  const other = await withChannel();
  expect(await ask(slash('status on hold', { channel }))).toBe(
    `${reference} (Checkout is down) has the status On hold.`,
  );
  expect(await ask(slash(`severity ${reference} SEV 1`, { channel: other.channel }))).toContain(
    'has the severity SEV 1',
  );
  expect(await ask(slash(`lead <@${BEN}|ben>`, { channel }))).toContain('has its lead');
  expect(await incident(id)).toMatchObject({ status: 'on-hold', severity: 'sev1', incident_manager: '43' });
  expect(await ask(slash('lead me', { channel }))).toContain('has its lead');
  expect(await ask(slash('update Rolled *back* &amp; watching', { channel }))).toContain('in its timeline');
  expect(await ask(slash('follow-up Add an alert', { channel }))).toContain('the follow-up');
  expect(await ask(slash('resolve', { channel }))).toBe(`${reference} (Checkout is down) is resolved.`);
  expect(await incident(id)).toMatchObject({ status: 'resolved', incident_manager: '42' });
  expect(await timeline(id)).toContainEqual(
    expect.objectContaining({ type: 'update', body: 'Rolled *back* & watching', created_by: '42' }),
  );
  const { body } = await workspace.client.get(`${INCIDENTS}/${id}/follow-ups`);
  expect(body.follow_ups).toMatchObject([{ title: 'Add an alert', created_by: '42' }]);
  expect(await incident(other.id)).toMatchObject({ status: 'open', severity: 'sev3' });
});

describe('tells only whoever has asked why nothing was done:', () => {
  const refused = async (text: string, options: Parameters<typeof slash>[1] = {}) => {
    const before = await service.knex('incidents').max('revision').count();
    const answer = await ask(slash(text, options));
    expect(await service.knex('incidents').max('revision').count()).toEqual(before);
    return answer;
  };

  test.each([
    [
      'a person with no address in Tocsin',
      'U0000045',
      'No active user of Tocsin has your address in Slack, dora@elsewhere.example',
    ],
    [
      'a person of another organisation with the address of another',
      'U0000046',
      'Slack tells no confirmed email address',
    ],
    ['an address that is not confirmed', 'U0000047', 'Slack tells no confirmed email address'],
    ['a person whom Slack does not know', 'U0000099', 'Slack tells no confirmed email address'],
    ['no seat', 'U0000044', 'You may not do this in Tocsin'],
  ])('%s', async (_, user, why) => {
    expect(await refused('declare Checkout is down', { user })).toContain(why);
  });

  test.each([
    [
      'status nonsense &lt;!channel&gt;',
      'There is no status “nonsense &lt;!channel&gt;”. There are: Open, Active, on-hold (On hold),',
    ],
    ['severity sev9', 'There is no severity “sev9”. There are: sev1 (SEV 1)'],
    ['status INC-999999 open', 'The incident does not exist.'],
    ['lead <@U0000045|dora>', 'No active user of Tocsin has the address dora@elsewhere.example.'],
    [`update ${'x'.repeat(66_000)}`, 'body: '],
    [`declare ${'x'.repeat(40_000)}`, 'title: '],
    ['deploy', 'There is no command “deploy”'],
  ])('%#', async (text, why) => {
    const { channel } = await withChannel();
    const answer = await refused(text, { channel });
    expect(answer).toContain(why);
    expect(answer.length).toBeLessThan(4_000);
  });

  test('a channel without an incident', async () => {
    expect(await refused('resolve', { channel: 'C9999999' })).toContain(
      'No incident that you may see has this channel',
    );
  });

  test('a restricted incident, which stays hidden from others', async () => {
    const { id, reference, channel } = await withChannel({ restricted: true, incident_manager: '42' });
    expect(await refused('status active', { channel, user: BEN })).toContain('No incident that you may see');
    expect(await refused(`status ${reference} active`, { user: BEN })).toBe('The incident does not exist.');
    expect(await ask(slash('status active', { channel, user: ANA }))).toContain('has the status Active');
    expect(await incident(id)).toMatchObject({ status: 'active' });
  });

  test('Slack, which is down', async () => {
    const { channel } = await withChannel();
    slack.people.push({ id: 'U0000050', name: 'Gil', email: 'ana@acme.example' });
    slack.fail({ method: 'users.info', error: 'internal_error' });
    expect(await refused('resolve', { channel, user: 'U0000050' })).toContain('Slack did not help');
  });
});

describe('a message becomes an event of the timeline', () => {
  const ts = '1764489600.123456';

  test('once, at its time, whoever adds it', async () => {
    const { id, channel } = await withChannel();
    const message = { ts, text: 'The &lt;database&gt; is <https://acme.example|slow>' };
    expect(await ask(shortcut(message, { channel }))).toContain('has the message in its timeline');
    expect(await ask(shortcut(message, { channel }))).toContain('has the message in its timeline');
    expect(await ask(shortcut(message, { channel, user: BEN }))).toContain('has the message in its timeline');
    expect(await timeline(id)).toMatchObject([
      {
        body: `The <database> is slow (https://acme.example)\n\nBen: https://acme.slack.com/archives/${channel}/p1764489600123456`,
        started_at: '2025-11-30T08:00:00.123Z',
      },
    ]);
  });

  test('with 40,000 characters that call people', async () => {
    const { id, channel } = await withChannel();
    const text = '<!channel> '.repeat(4_000).slice(0, 40_000);
    expect(await ask(shortcut({ ts, text }, { channel }))).toContain('has the message');
    expect(String((await timeline(id))[0]?.['body'])).toMatch(/^(?:@channel )+/);
  });

  test('only in the channel of an incident', async () => {
    const message = { ts, text: 'Lunch?' };
    expect(await ask(shortcut(message, { channel: 'C9999999' }))).toContain('No incident that you may see');
  });
});

describe('a request', () => {
  test('happens once, however often Slack repeats it, to whichever process', async () => {
    const envelope = slash('declare Search is slow');
    const text = await ask(envelope);
    await slack.sockets.repeat(envelope);
    // Another process has not seen it: it takes over the socket.
    const holder = async () => (await service.knex('chat_connections').first('socket_holder')).socket_holder as string;
    const first = await holder();
    const other = await service.startProcess();
    try {
      await eventually(async () => {
        const now = await holder();
        if (now !== null && now !== first) return slack.sockets.open === 1;
        if (now === first) await service.knex('chat_connections').update({ socket_holder: null, socket_until: null });
        return false;
      });
      await slack.sockets.repeat(envelope);
      await ask(slash('help'));
    } finally {
      await other.stop();
      await eventually(() => slack.sockets.open === 1, { what: 'a socket of the first process' });
    }
    const { body } = await workspace.client.get(`${INCIDENTS}?q=Search is slow`);
    expect(body.incidents).toHaveLength(1);
    expect(text).toContain(body.incidents[0].human_id);
  });

  test('is acknowledged before the database answers', async () => {
    const { channel } = await withChannel();
    const release = await holdTransaction(service.knex, async (trx) => {
      await trx.raw('lock table incidents in access exclusive mode');
    });
    const envelope = slash('status active', { channel });
    const { response_url } = envelope.payload as { response_url: string };
    const acknowledgement = await slack.sockets.send(envelope);
    expect(acknowledgement.payload).toEqual({});
    const isAnswered = () => answers.requests.some(({ path }) => path === new URL(response_url).pathname);
    expect(isAnswered()).toBe(false);
    await release();
    await eventually(isAnswered);
  });

  test('of an unknown kind is acknowledged, and does nothing', async () => {
    const received = answers.requests.length;
    for (const payload of [
      {},
      { type: 'block_actions' },
      { type: 'message_action', callback_id: 'other' },
      { text: 7 },
    ]) {
      expect((await slack.sockets.send({ type: 'interactive', payload })).payload).toEqual({});
      expect((await slack.sockets.send({ type: 'slash_commands', payload })).payload).toEqual({});
    }
    await ask(slash('help'));
    expect(answers.requests).toHaveLength(received + 1);
  });

  test('has its answer only sent to Slack', async () => {
    const envelope = slash('declare Nothing is sent elsewhere');
    const payload = { ...envelope.payload, response_url: answers.url('/elsewhere', 'localhost') };
    await slack.sockets.send({ ...envelope, payload });
    await ask(slash('help'));
    await eventually(async () => {
      const { body } = await workspace.client.get(`${INCIDENTS}?q=Nothing is sent elsewhere`);
      return body.incidents.length === 1;
    });
    expect(answers.requests.map(({ path }) => path)).not.toContain('/elsewhere');
  });

  test('is limited for each user, by the acknowledgement, and not for others', async () => {
    slack.people.push(
      { id: 'U0000051', name: 'Hal', email: 'ben@acme.example' },
      { id: 'U0000052', name: 'Ida', email: 'ben@acme.example' },
    );
    for (let sent = 1; sent <= 30; sent += 1) await ask(slash('help', { user: 'U0000051' }));
    const { payload } = await slack.sockets.send(slash('declare One too many', { user: 'U0000051' }));
    expect(payload).toMatchObject({
      response_type: 'ephemeral',
      text: expect.stringContaining('more than 30 commands in a minute'),
    });
    expect(await ask(slash('help', { user: 'U0000052' }))).toContain('/tocsin declare');
    expect((await workspace.client.get(`${INCIDENTS}?q=One too many`)).body.incidents).toEqual([]);
  });
});
