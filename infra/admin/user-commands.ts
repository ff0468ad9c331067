import { ROLES, SEATS } from '../../gateway/src/administration.ts';
import type { Command, Flag } from './command.ts';
import { UsageError } from './usage-error.ts';
import { userView } from './views.ts';

const who: Record<string, Flag> = {
  workspace: { type: 'string', value: 'SLUG', help: 'the workspace', required: true },
  email: { type: 'string', value: 'EMAIL', help: "the user's address, in any case", required: true },
};

const role: Flag = { type: 'string', value: 'ROLE', help: `${ROLES.join(', ')}; member unless set` };
const seat: Flag = { type: 'string', value: 'SEAT', help: `${SEATS.join(' or ')}; none unless set` };

const activation = (name: string, active: boolean, summary: string): Command => ({
  name,
  summary,
  flags: who,
  run: async (given, { gateway }) => ({
    user: userView(
      await gateway.setUser({ workspace: given.required('workspace'), email: given.required('email'), active }),
    ),
  }),
});

export const userCommands: readonly Command[] = [
  {
    name: 'user create',
    summary: 'Make a user',
    flags: { ...who, name: { type: 'string', value: 'NAME', help: 'for people', required: true }, role, seat },
    run: async (given, { gateway }) => ({
      user: userView(
        await gateway.createUser({
          workspace: given.required('workspace'),
          email: given.required('email'),
          name: given.required('name'),
          role: given.oneOf('role', ROLES),
          seat: given.oneOf('seat', SEATS),
        }),
      ),
    }),
  },
  {
    name: 'user set',
    summary: "Change a user's name, role or seat",
    flags: {
      ...who,
      name: { type: 'string', value: 'NAME', help: 'for people' },
      role: { ...role, help: ROLES.join(', ') },
      seat: { ...seat, help: SEATS.join(' or ') },
    },
    run: async (given, { gateway }) => {
      const read = { name: given.text('name'), role: given.oneOf('role', ROLES), seat: given.oneOf('seat', SEATS) };
      const changes = Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
      if (Object.keys(changes).length === 0) throw new UsageError('user set: there is nothing to set');
      const [workspace, email] = [given.required('workspace'), given.required('email')];
      return { user: userView(await gateway.setUser({ ...changes, workspace, email })) };
    },
  },
  activation('user deactivate', false, 'Shut a user out: all their keys become invalid'),
  activation('user activate', true, 'Let a user in again'),
];
