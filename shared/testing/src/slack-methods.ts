import { type SlackArguments, type SlackChannel, SlackError, type SlackState, TEAM } from './slack-state.ts';

type Method = (state: SlackState, args: SlackArguments, user: string) => object;

const MAX_NAME_LENGTH = 80;
const MAX_PURPOSE_LENGTH = 250;
const MAX_INVITEES = 100;
const MAX_MESSAGE_LENGTH = 40_000;

export const SLACK_METHODS = {
  'auth.test': (_state, _args, user) => ({ user_id: user, team_id: TEAM, is_enterprise_install: false }),

  'apps.connections.open': (state) => ({ url: state.newSocket() }),

  'users.info': ({ people }, { user: id }) => {
    const person = people.find((each) => each.id === id);
    if (person === undefined) throw new SlackError('user_not_found');
    const { name, email, team = TEAM, isEmailConfirmed = true, deleted = false } = person;
    const names = { name: name.toLowerCase(), real_name: name, profile: { display_name: name, email } };
    return { user: { id, team_id: team, deleted, is_bot: false, is_email_confirmed: isEmailConfirmed, ...names } };
  },

  'chat.getPermalink': (state, { channel: channelId, message_ts: ts = '' }, user) => {
    const { id } = findChannel(state, channelId, user);
    if (!/^\d+\.\d{6}$/.test(ts)) throw new SlackError('message_not_found');
    return { channel: id, permalink: `https://acme.slack.com/archives/${id}/p${ts.replace('.', '')}` };
  },

  'conversations.create': (state, { name, is_private: isPrivate }, user) => {
    const channel = state.addChannel({
      ...{ name: checkName(state, name), creator: user, isPrivate: isPrivate === 'true' },
    });
    return { channel: toWire(channel) };
  },

  'conversations.setPurpose': (state, { channel: id, purpose = '' }, user) => {
    const channel = findOpenChannel(state, id, user);
    requireMember(channel, user);
    if ([...purpose].length > MAX_PURPOSE_LENGTH) throw new SlackError('too_long');
    channel.purpose = purpose;
    return { channel: toWire(channel) };
  },

  'conversations.setTopic': (state, { channel: id, topic = '' }, user) => {
    const channel = findOpenChannel(state, id, user);
    requireMember(channel, user);
    if ([...topic].length > MAX_PURPOSE_LENGTH) throw new SlackError('too_long');
    channel.topic = topic;
    return { channel: toWire(channel) };
  },

  'conversations.list': (state, { types = 'public_channel', exclude_archived, limit = '100', cursor = '' }, user) => {
    const start = cursor === '' ? 0 : Number(/^start:(\d+)$/.exec(atob(cursor))?.[1] ?? Number.NaN);
    if (Number.isNaN(start)) throw new SlackError('invalid_cursor');
    if (!(Number(limit) >= 1 && Number(limit) <= 1_000)) throw new SlackError('invalid_limit');
    const end = start + Math.min(Number(limit), state.pageSize);
    const listed = state.channels.filter(
      (channel) =>
        isVisible(channel, user) && types.split(',').includes(channel.isPrivate ? 'private_channel' : 'public_channel'),
    );
    return {
      channels: listed
        .slice(start, end)
        .filter(({ isArchived }) => exclude_archived !== 'true' || !isArchived)
        .map(toWire),
      response_metadata: { next_cursor: end < listed.length ? btoa(`start:${end}`) : '' },
    };
  },

  'conversations.info': (state, { channel: id }, user) => ({ channel: toWire(findChannel(state, id, user)) }),

  'conversations.rename': (state, { channel: id, name }, user) => {
    const channel = findOpenChannel(state, id, user);
    if (channel.creator !== user) throw new SlackError('not_authorized');
    requireMember(channel, user);
    channel.name = checkName(state, name, channel);
    return { channel: toWire(channel) };
  },

  'conversations.invite': (state, { channel: id, users = '', force }, user) => {
    const channel = findOpenChannel(state, id, user);
    requireMember(channel, user);
    const invitees = users.split(',').filter((invitee) => invitee !== '');
    if (invitees.length === 0) throw new SlackError('no_user');
    if (invitees.length > MAX_INVITEES) throw new SlackError('too_many_users');

    const errorOf = (invitee: string) => {
      if (invitee === user) return 'cant_invite_self';
      return channel.members.includes(invitee) ? 'already_in_channel' : state.uninvitable.get(invitee);
    };
    const errorByInvitee = new Map(invitees.map((invitee) => [invitee, errorOf(invitee)]));
    const errors = [...errorByInvitee].flatMap(([invitee, error]) =>
      error === undefined ? [] : [{ user: invitee, ok: false, error }],
    );
    if (errors[0] === undefined || force === 'true') {
      channel.members.push(...invitees.filter((invitee) => errorByInvitee.get(invitee) === undefined));
    }
    if (errors[0] !== undefined) throw new SlackError(errors[0].error, { errors });
    return { channel: toWire(channel) };
  },

  'chat.postMessage': (state, args, user) => {
    const channel = findOpenChannel(state, args['channel'], user);
    requireMember(channel, user);
    const { text = '' } = args;
    if (text === '') throw new SlackError('no_text');
    if (text.length > MAX_MESSAGE_LENGTH) throw new SlackError('msg_too_long');
    channel.messages.push(args);
    return { channel: channel.id, ts: `${Date.now() / 1_000}`, message: { type: 'message', text } };
  },

  'usergroups.list': ({ usergroups }) => ({
    usergroups: usergroups.map(({ id, handle }) => ({ id, handle, name: handle, is_usergroup: true, date_delete: 0 })),
  }),

  'usergroups.users.list': ({ usergroups }, { usergroup }) => {
    const group = usergroups.find(({ id }) => id === usergroup);
    if (group === undefined) throw new SlackError('no_such_subteam');
    return { users: group.users };
  },
} satisfies Record<string, Method>;

export type SlackMethod = keyof typeof SLACK_METHODS;

export const isSlackMethod = (name: string): name is SlackMethod => Object.hasOwn(SLACK_METHODS, name);

/** Checks that a name is valid and that no other channel has it, including archived ones. */
function checkName({ channels }: SlackState, name = '', renamedChannel?: SlackChannel): string {
  if (name === '') throw new SlackError('invalid_name_required');
  if ([...name].length > MAX_NAME_LENGTH) throw new SlackError('invalid_name_maxlength');
  if (name !== name.toLowerCase() || /[^\p{L}\p{M}\p{N}_-]/u.test(name)) throw new SlackError('invalid_name_specials');
  if (/^[_-]+$/.test(name)) throw new SlackError('invalid_name_punctuation');
  if (channels.some((channel) => channel !== renamedChannel && channel.name === name))
    throw new SlackError('name_taken');
  return name;
}

const isVisible = ({ isPrivate, members }: SlackChannel, user: string) => !isPrivate || members.includes(user);

function findChannel({ channels }: SlackState, channelId: string | undefined, user: string): SlackChannel {
  const channel = channels.find(({ id }) => id === channelId);
  if (channel === undefined || !isVisible(channel, user)) throw new SlackError('channel_not_found');
  return channel;
}

function findOpenChannel(state: SlackState, id: string | undefined, user: string): SlackChannel {
  const channel = findChannel(state, id, user);
  if (channel.isArchived) throw new SlackError('is_archived');
  return channel;
}

function requireMember({ members }: SlackChannel, user: string): void {
  if (!members.includes(user)) throw new SlackError('not_in_channel');
}

const toWire = ({ id, name, purpose, topic, creator, created, isArchived, isPrivate, members }: SlackChannel) => ({
  id,
  name,
  name_normalized: name,
  is_channel: true,
  is_private: isPrivate,
  is_archived: isArchived,
  created,
  creator,
  topic: { value: escapeText(topic), creator: '', last_set: 0 },
  purpose: { value: escapeText(purpose), creator: '', last_set: 0 },
  num_members: members.length,
});

/** Text as Slack returns it: three characters escaped, URLs in angle brackets. */
const escapeText = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/https?:\/\/\S+/g, '<$&>');
