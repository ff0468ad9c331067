import { WebAPIPlatformError, type WebClient } from '@slack/web-api';
import { inviteErrorResponse, usergroupListResponse, usergroupUsersResponse } from './responses.ts';
import { reasonOf } from './errors.ts';

/** Users per call; Slack's maximum. */
const BATCH_SIZE = 100;

/** Error codes that concern an invited user and not the call itself. */
const INVITEE_ERRORS: ReadonlySet<string> = new Set([
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
  /** Returns the ID of the connection's own user. */
  fetchOwnUserId: () => Promise<string>;
}

/**
 * Implements `inviteUsergroups` of the port. Invites in batches, so a failed call may have invited some users.
 * @throws the library's errors
 */
export async function inviteUsergroups(
  slack: WebClient,
  { channelId, handles, fetchOwnUserId }: Invitation,
): Promise<string[]> {
  const missing = new Map(handles.map((handle) => [normalise(handle), handle]));
  if (missing.size === 0) return [];
  const { usergroups } = usergroupListResponse.parse(await slack.usergroups.list());
  const groups = usergroups.filter(({ handle }) => missing.has(normalise(handle)));

  const members = new Set<string>();
  for (const { id } of groups) {
    const { users } = usergroupUsersResponse.parse(await slack.usergroups.users.list({ usergroup: id }));
    for (const user of users) members.add(user);
  }
  if (members.size > 0) members.delete(await fetchOwnUserId());

  const invitees = [...members];
  for (let start = 0; start < invitees.length; start += BATCH_SIZE) {
    await invite(slack, channelId, invitees.slice(start, start + BATCH_SIZE));
  }
  for (const { handle } of groups) missing.delete(normalise(handle));
  return [...missing.values()];
}

const normalise = (handle: string) => handle.replace(/^@/, '').toLowerCase();

/** Invites all users who can be invited and ignores the others. */
async function invite(slack: WebClient, channel: string, users: readonly string[]): Promise<void> {
  try {
    await slack.conversations.invite({ channel, users: users.join(','), force: true });
  } catch (error) {
    const refusedUsers = refusedUsersOf(error);
    // An error may also stop users whom it does not name: retry without the named ones. If it names nobody, invite each alone.
    const others = users.filter((user) => !refusedUsers.includes(user));
    if (others.length < users.length && others.length > 0) await invite(slack, channel, others);
    else if (refusedUsers.length === 0 && users.length > 1)
      for (const user of users) await invite(slack, channel, [user]);
  }
}

/**
 * Returns the users that an error names.
 * @throws the error itself if it does not concern invited users
 */
function refusedUsersOf(error: unknown): (string | undefined)[] {
  if (!(error instanceof WebAPIPlatformError)) throw error;
  const { error: code, errors } = inviteErrorResponse.parse(error.data);
  const isAboutInvitees =
    errors.length === 0
      ? INVITEE_ERRORS.has(code)
      : errors.every(({ user, error: reason }) => user !== undefined && reasonOf(reason) !== 'channel_missing');
  if (!isAboutInvitees) throw error;
  return errors.map(({ user }) => user);
}
