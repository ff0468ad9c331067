import type { Query, User } from '@tocsin/sdk';
import { useState } from 'react';
import { sayError } from '../api/failures.ts';
import { useAccess, useWrite } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { formatName } from '../ui/format.ts';
import { ResourceList } from '../resources/resource-list.tsx';
import { type Columns, Named } from '../ui/table.tsx';
import { Check, Input, Select } from '../ui/fields.tsx';
import { Button } from '../ui/button.tsx';
import { SecretDialog } from '../ui/dialogs.tsx';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import { EraseUser } from './erase-user.tsx';
import ui from '../ui/ui.module.css';

const PATH = '/settings/users';
/** From the one that may most, with what each may do. */
const MAY = new Map<User['role'], string>([
  ['owner', 'Manages everything, and deletes for good'],
  ['admin', 'Manages people, settings and teams'],
  ['manager', 'Manages teams'],
  ['member', 'Manages nothing'],
  ['viewer', 'Manages nothing; the lowest role'],
]);
const ROLES = [...MAY.keys()];

/** Whom the list shows. */
const SHOWN: readonly (readonly [name: string, filter: Query])[] = [
  ['Everybody', {}],
  ...ROLES.map((role) => [`${formatName(role)}s`, { role }] as const),
  ['With a responder seat', { seat: 'responder' }],
  ['Without a seat', { seat: 'none' }],
  ['Deactivated', { active: false }],
];

const roleName = (role: User['role']) => `${formatName(role)}: ${MAY.get(role)}`;

export function UsersPage() {
  const { canManage, canDelete, user: me } = useAccess();
  const [shown, setShown] = useState('0');
  const [erased, setErased] = useState<User>();
  const [link, setLink] = useState<{ user: User; url: string }>();
  const make = useWrite<{ login_link: { path: string } }>();
  const makeLink = (user: User) =>
    make.mutate(
      { path: `${PATH}/${user.id}/login-link` },
      {
        onSuccess: ({ login_link: { path } }) => setLink({ user, url: window.location.origin + path }),
        onError: sayError,
      },
    );
  return (
    <>
      <ResourceList<User>
        title="People"
        guide="users"
        lead="Who takes part, what they may do, and which programs act for them."
        path={PATH}
        property="users"
        search={{ label: 'Search people', none: 'Nobody matches' }}
        filter={SHOWN[Number(shown)]?.[1]}
        controls={
          <Select
            bare
            label="Who is shown"
            options={SHOWN.map(([name], index) => [String(index), name])}
            value={shown}
            onValue={setShown}
          />
        }
        empty={<Empty title="Nobody matches" icon="search" />}
        create="Invite"
        canChange={canManage}
        editor={(user, onClose) => <UserDialog user={user} onInvited={makeLink} onClose={onClose} />}
        more={(user) => (
          <>
            {user.active && ROLES.indexOf(user.role) >= ROLES.indexOf(me?.role ?? 'viewer') && (
              <Button kind="quiet" small busy={make.isPending} onClick={() => makeLink(user)}>
                Sign-in link
              </Button>
            )}
            {canDelete && (
              <Button kind="quiet" small onClick={() => setErased(user)}>
                Erase
              </Button>
            )}
          </>
        )}
        act={(user) => [
          user.active ? 'Deactivate' : 'Activate',
          { ...saveTo(PATH, user), body: { active: !user.active } },
        ]}
        columns={columnsFor(me)}
      />
      {erased !== undefined && <EraseUser user={erased} onClose={() => setErased(undefined)} />}
      {link !== undefined && (
        <SecretDialog
          title={`A link for ${link.user.name}`}
          label="Sign-in link"
          value={link.url}
          onClose={() => setLink(undefined)}
        >
          Send it to {link.user.email}: it signs them in once, within ten minutes, and is not shown again.
        </SecretDialog>
      )}
    </>
  );
}

const columnsFor = (me: { id: number } | undefined): Columns<User> => [
  ['Name', ({ id, name, email }) => <Named name={id === me?.id ? `${name} (you)` : name} about={email} />],
  ['Role', ({ role }) => <Named name={formatName(role)} about={MAY.get(role)} />],
  [
    'Seat',
    ({ seat }) =>
      seat === 'responder' ? (
        <Named name={<Badge tone="good">Responder</Badge>} about="Changes incidents" />
      ) : (
        <span className={ui.muted}>Reads only</span>
      ),
  ],
  ['State', ({ active }) => (active ? 'Active' : <Badge>Deactivated</Badge>)],
];

function UserDialog({
  user,
  onInvited,
  onClose,
}: {
  user: User | undefined;
  onInvited: (user: User) => void;
  onClose: () => void;
}) {
  const myRole = useAccess().user?.role ?? 'viewer';
  // Nobody raises anybody above their own role.
  const roles = ROLES.slice(ROLES.indexOf(myRole));
  return (
    <EditDialog<{ name: string; email: string; role: User['role']; isResponder: boolean }, { user: User }>
      title={user === undefined ? 'Invite somebody' : `Edit ${user.name}`}
      initial={{
        name: user?.name ?? '',
        email: user?.email ?? '',
        role: user?.role ?? 'member',
        isResponder: user?.seat !== 'none',
      }}
      request={({ name, email, role, isResponder }) => ({
        ...saveTo(PATH, user),
        body: { name, role, seat: isResponder ? 'responder' : 'none', ...(email !== user?.email && { email }) },
      })}
      onDone={(reply) => user === undefined && onInvited(reply.user)}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="Name" {...bind('name')} />
          <Input
            label="Email"
            type="email"
            hint={
              user === undefined
                ? 'You get a link to send there, which signs them in.'
                : 'Another one ends their sessions and sign-in links.'
            }
            {...bind('email')}
          />
          <Select label="Role" options={roles.map((role) => [role, roleName(role)])} {...bind('role')} />
          <Check label="Responder seat: may change incidents" {...bind('isResponder')} name="seat" />
        </>
      )}
    </EditDialog>
  );
}
