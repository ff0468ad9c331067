import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { refusedInvitation, usergroupList, userList } from './answers.ts';
import { faultOf } from './faults.ts';

/** Slack takes this many users a call. */
const BATCH = 100;

/** What Slack says when it is not the call that is wrong but somebody in it. */
const ABOUT_INVITEES: ReadonlySet<string> = new Set([
  'already_in_channel',
  'cant_invite',
  'cant_invite_self',
  'invitee_cant_see_channel',
  'no_external_invite_permission',
  'org_user_not_in_team',
  'ura_max_channels',
  'user_disabled',
  'user_is_restricted',
  'user_is_ultra_restricted',
  'user_not_found',
]);

interface Invitation {
  channelId: string;
  handles: readonly string[];
  /** Answers the connection's own user. */
  self: () => Promise<string>;
}

/**
 * As the port's. Invites in batches, so one that fails halfway has invited some.
 * @throws what the library throws
 */
export async function inviteUsergroups(slack: WebClient, { channelId, handles, self }: Invitation): Promise<string[]> {
  const wanted = new Map(handles.map((handle) => [normalise(handle), handle]));
  if (wanted.size === 0) return [];
  const { usergroups } = usergroupList.parse(await slack.usergroups.list());
  const groups = usergroups.filter(({ handle }) => wanted.has(normalise(handle)));

  const members = new Set<string>();
  for (const { id } of groups) {
    const { users } = userList.parse(await slack.usergroups.users.list({ usergroup: id }));
    for (const user of users) members.add(user);
  }
  if (members.size > 0) members.delete(await self());

  const invitees = [...members];
  for (let start = 0; start < invitees.length; start += BATCH) {
    await invite(slack, channelId, invitees.slice(start, start + BATCH));
  }
  for (const { handle } of groups) wanted.delete(normalise(handle));
  return [...wanted.values()];
}

const normalise = (handle: string) => handle.replace(/^@/, '').toLowerCase();

/** Invites whoever can be; that somebody cannot is no failure. */
async function invite(slack: WebClient, channel: string, users: readonly string[]): Promise<void> {
  try {
    await slack.conversations.invite({ channel, users: users.join(','), force: true });
  } catch (error) {
    const refused = refusedInvitees(error);
    // Those whom the refusal does not name may have been kept out by it; where it names nobody, each is asked for alone.
    const others = users.filter((user) => !refused.includes(user));
    if (others.length < users.length && others.length > 0) await invite(slack, channel, others);
    else if (refused.length === 0 && users.length > 1) for (const user of users) await invite(slack, channel, [user]);
  }
}

/**
 * Whom a refusal names.
 * @throws the error, when it is about anything else than people
 */
function refusedInvitees(error: unknown): (string | undefined)[] {
  if (!(error instanceof WebAPIPlatformError)) throw error;
  const { error: code, errors } = refusedInvitation.parse(error.data);
  const isAboutPeople =
    errors.length === 0
      ? ABOUT_INVITEES.has(code)
      : errors.every(({ user, error: reason }) => user !== undefined && faultOf(reason) !== 'channel_missing');
  if (!isAboutPeople) throw error;
  return errors.map(({ user }) => user);
}
