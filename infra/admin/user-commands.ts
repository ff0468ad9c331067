import { consoleUrl, loginUrl } from './console-url.ts';
import { ROLES, SEATS } from '../../gateway/src/administration.ts';
import { type Command, type Flag, workspaceFlag } from './command.ts';
import { UsageError } from './target.ts';
import { userView } from './views.ts';

const userFlags: Record<string, Flag> = {
  workspace: workspaceFlag,
  email: { value: 'EMAIL', help: "the user's email address; case does not matter", required: true },
};

const role: Flag = { value: 'ROLE', help: 'member by default', choices: ROLES };
const seat: Flag = { value: 'SEAT', help: 'none by default', choices: SEATS };

const activation = (name: string, active: boolean, summary: string): Command => ({
  name,
  summary,
  flags: userFlags,
  run: async (values, { gateway }) => ({
    user: userView(
      await gateway.setUser({ workspace: values.required('workspace'), email: values.required('email'), active }),
    ),
  }),
});

export const userCommands: readonly Command[] = [
  {
    name: 'user list',
    summary: 'List the users of all workspaces, or of one',
    flags: { workspace: { value: 'SLUG', help: 'only the users of this workspace' } },
    table: {
      rows: 'users',
      columns: ['id', 'workspace', 'email', 'name', 'role', 'seat', 'active', 'created_at'],
    },
    run: async (values, { gateway }) => ({
      users: (await gateway.listUsers(values.text('workspace'))).map((user) => ({
        ...userView(user),
        workspace: user.workspace,
      })),
    }),
  },
  {
    name: 'user show',
    summary: 'Show a user',
    flags: userFlags,
    run: async (values, { gateway }) => ({
      user: userView(await gateway.getUser(values.required('workspace'), values.required('email'))),
    }),
  },
  {
    name: 'user create',
    summary: 'Create a user',
    flags: {
      ...userFlags,
      name: { value: 'NAME', help: 'the display name', required: true },
      role,
      seat,
    },
    run: async (values, { gateway }) => ({
      user: userView(
        await gateway.createUser({
          workspace: values.required('workspace'),
          email: values.required('email'),
          name: values.required('name'),
          role: values.oneOf('role', ROLES),
          seat: values.oneOf('seat', SEATS),
        }),
      ),
    }),
  },
  {
    name: 'user set',
    summary: "Change a user's name, role or seat",
    flags: {
      ...userFlags,
      name: { value: 'NAME', help: 'the display name' },
      role: { ...role, help: '' },
      seat: { ...seat, help: '' },
    },
    run: async (values, { gateway }) => {
      const read = { name: values.text('name'), role: values.oneOf('role', ROLES), seat: values.oneOf('seat', SEATS) };
      const changes = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) throw new UsageError('user set: there is nothing to set');
      const [workspace, email] = [values.required('workspace'), values.required('email')];
      return { user: userView(await gateway.setUser({ ...changes, workspace, email })) };
    },
  },
  {
    name: 'login-link',
    summary: 'Print a link that signs a user in to the console; it works once, within ten minutes',
    flags: userFlags,
    run: async (values, { gateway, env }) => {
      const workspace = values.required('workspace');
      const { token, expiresAt } = await gateway.createLoginLink({ workspace, email: values.required('email') });
      return { url: loginUrl(consoleUrl(env, workspace), token), expires_at: expiresAt };
    },
  },
  activation('user deactivate', false, 'Deactivate a user and all their API keys, and end their sessions'),
  activation('user activate', true, 'Activate a deactivated user'),
];
