import { type SlackArguments, type SlackChannel, SlackRefusal, type SlackState } from './slack-state.ts';

type Method = (state: SlackState, args: SlackArguments, user: string) => object;

const LONGEST_NAME = 80;
const LONGEST_PURPOSE = 250;
const MOST_INVITEES = 100;

export const SLACK_METHODS = {
  'auth.test': (_state, _args, user) => ({ user_id: user, team_id: 'T0000001', is_enterprise_install: false }),

  'conversations.create': (state, { name }, user) => {
    const channel = state.addChannel({ name: freeName(state, name), creator: user });
    return { channel: wire(channel) };
  },

  'conversations.setPurpose': (state, { channel: id, purpose = '' }, user) => {
    const channel = openChannel(state, id);
    requireMember(channel, user);
    if ([...purpose].length > LONGEST_PURPOSE) throw new SlackRefusal('too_long');
    channel.purpose = purpose;
    return { channel: wire(channel) };
  },

  'conversations.list': (state, { types = 'public_channel', exclude_archived, limit = '100', cursor = '' }) => {
    const start = cursor === '' ? 0 : Number(/^start:(\d+)$/.exec(atob(cursor))?.[1] ?? Number.NaN);
    if (Number.isNaN(start)) throw new SlackRefusal('invalid_cursor');
    if (!(Number(limit) >= 1 && Number(limit) <= 1_000)) throw new SlackRefusal('invalid_limit');
    const end = start + Math.min(Number(limit), state.pageSize);
    const listed = types.split(',').includes('public_channel') ? state.channels : [];
    return {
      channels: listed
        .slice(start, end)
        .filter(({ isArchived }) => exclude_archived !== 'true' || !isArchived)
        .map(wire),
      response_metadata: { next_cursor: end < listed.length ? btoa(`start:${end}`) : '' },
    };
  },

  'conversations.info': (state, { channel: id }) => ({ channel: wire(findChannel(state, id)) }),

  'conversations.rename': (state, { channel: id, name }, user) => {
    const channel = openChannel(state, id);
    if (channel.creator !== user) throw new SlackRefusal('not_authorized');
    requireMember(channel, user);
    channel.name = freeName(state, name, channel);
    return { channel: wire(channel) };
  },

  'conversations.invite': (state, { channel: id, users = '', force }, user) => {
    const channel = openChannel(state, id);
    requireMember(channel, user);
    const invitees = users.split(',').filter((invitee) => invitee !== '');
    if (invitees.length === 0) throw new SlackRefusal('no_user');
    if (invitees.length > MOST_INVITEES) throw new SlackRefusal('too_many_users');

    const faultOf = (invitee: string) => {
      if (invitee === user) return 'cant_invite_self';
      return channel.members.includes(invitee) ? 'already_in_channel' : state.uninvitable.get(invitee);
    };
    const faults = new Map(invitees.map((invitee) => [invitee, faultOf(invitee)]));
    const errors = [...faults].flatMap(([invitee, error]) =>
      error === undefined ? [] : [{ user: invitee, ok: false, error }],
    );
    if (errors[0] === undefined || force === 'true') {
      channel.members.push(...invitees.filter((invitee) => faults.get(invitee) === undefined));
    }
    if (errors[0] !== undefined) throw new SlackRefusal(errors[0].error, { errors });
    return { channel: wire(channel) };
  },

  'usergroups.list': ({ usergroups }) => ({
    usergroups: usergroups.map(({ id, handle }) => ({ id, handle, name: handle, is_usergroup: true, date_delete: 0 })),
  }),

  'usergroups.users.list': ({ usergroups }, { usergroup }) => {
    const group = usergroups.find(({ id }) => id === usergroup);
    if (group === undefined) throw new SlackRefusal('no_such_subteam');
    return { users: group.users };
  },
} satisfies Record<string, Method>;

export type SlackMethod = keyof typeof SLACK_METHODS;

export const isSlackMethod = (name: string): name is SlackMethod => Object.hasOwn(SLACK_METHODS, name);

/** A name that keeps to Slack's rules and that no other channel has, archived ones included. */
function freeName({ channels }: SlackState, name = '', own?: SlackChannel): string {
  if (name === '') throw new SlackRefusal('invalid_name_required');
  if (name.length > LONGEST_NAME) throw new SlackRefusal('invalid_name_maxlength');
  if (/[^a-z0-9_-]/.test(name)) throw new SlackRefusal('invalid_name_specials');
  if (/^[_-]+$/.test(name)) throw new SlackRefusal('invalid_name_punctuation');
  if (channels.some((channel) => channel !== own && channel.name === name)) throw new SlackRefusal('name_taken');
  return name;
}

function findChannel({ channels }: SlackState, wanted: string | undefined): SlackChannel {
  const channel = channels.find(({ id }) => id === wanted);
  if (channel === undefined) throw new SlackRefusal('channel_not_found');
  return channel;
}

function openChannel(state: SlackState, id: string | undefined): SlackChannel {
  const channel = findChannel(state, id);
  if (channel.isArchived) throw new SlackRefusal('is_archived');
  return channel;
}

function requireMember({ members }: SlackChannel, user: string): void {
  if (!members.includes(user)) throw new SlackRefusal('not_in_channel');
}

const wire = ({ id, name, purpose, creator, created, isArchived, members }: SlackChannel) => ({
  id,
  name,
  name_normalized: name,
  is_channel: true,
  is_private: false,
  is_archived: isArchived,
  created,
  creator,
  purpose: { value: marked(purpose), creator: '', last_set: 0 },
  num_members: members.length,
});

/** Text as Slack answers it: three characters escaped, addresses in angle brackets. */
const marked = (text: string): string =>
  text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/https?:\/\/\S+/g, '<$&>');
