import { consoleUrl, loginUrl } from '../installation/console-url.ts';
import { ROLES, type Role, type Seat, SEATS } from '../../gateway/src/administration.ts';
import { UsageError } from '../cli/src/operation-parameters.ts';
import { type Command, type Flag, workspaceFlag } from './command.ts';
import { snakeCase, userView } from './views.ts';

const userFlags: Record<string, Flag> = {
  workspace: workspaceFlag,
  email: { value: 'EMAIL', help: "the user's email address; case does not matter", required: true },
};

const role: Flag = { value: 'ROLE', help: 'member by default', choices: ROLES };
const seat: Flag = { value: 'SEAT', help: 'none by default', choices: SEATS };

interface User {
  workspace: string;
  email: string;
}

/** What the other flags say of a user. */
interface Properties {
  newEmail?: string;
  name?: string;
  role?: Role;
  seat?: Seat;
}

export const list: Command = {
  flags: { workspace: { value: 'SLUG', help: 'only the users of this workspace' } },
  table: {
    rows: 'users',
    columns: ['id', 'workspace', 'email', 'name', 'role', 'seat', 'active', 'created_at'],
  },
  run: async (values: Partial<User>, { gateway }) => ({
    users: (await gateway.listUsers(values.workspace)).map((user) => ({
      ...userView(user),
      workspace: user.workspace,
    })),
  }),
};

export const show: Command = {
  flags: userFlags,
  run: async ({ workspace, email }: User, { gateway }) => ({
    user: userView(await gateway.getUser(workspace, email)),
  }),
};

export const create: Command = {
  flags: {
    ...userFlags,
    name: { value: 'NAME', help: 'the display name', required: true },
    role,
    seat,
  },
  run: async (user: Properties & User & { name: string }, { gateway }) => ({
    user: userView(await gateway.createUser(user)),
  }),
};

export const set: Command = {
  flags: {
    ...userFlags,
    'new-email': { value: 'EMAIL', help: 'another email address, which ends their sessions and sign-in links' },
    name: { value: 'NAME', help: 'the display name' },
    role: { ...role, help: '' },
    seat: { ...seat, help: '' },
  },
  run: async ({ workspace, email, ...changes }: Properties & User, { gateway }) => {
    if (Object.keys(changes).length === 0) throw new UsageError('there is nothing to set');
    return { user: userView(await gateway.setUser({ ...changes, workspace, email })) };
  },
};

export const erase: Command = {
  flags: {
    ...userFlags,
    confirm: { value: 'EMAIL', help: 'the address again: nobody can undo this', required: true },
  },
  run: async ({ workspace, email, confirm }: User & { confirm: string }, { gateway }) => {
    const erasure = await gateway.eraseUser({ workspace, email, confirmation: confirm });
    const { userId, requestedAt, completedAt, remaining, places, hasMorePlaces } = erasure;
    return { erasure: { ...snakeCase({ userId, requestedAt, completedAt, hasMorePlaces }), remaining, places } };
  },
};

export const loginLink: Command = {
  flags: userFlags,
  run: async (user: User, { gateway, env }) => {
    const address = consoleUrl(env, user.workspace);
    const { token, expiresAt } = await gateway.createLoginLink(user);
    return { url: loginUrl(address, token), expires_at: expiresAt };
  },
};

const activation = (active: boolean): Command => ({
  flags: userFlags,
  run: async (user: User, { gateway }) => ({ user: userView(await gateway.setUser({ ...user, active })) }),
});

export const deactivate = activation(false);
export const activate = activation(true);
