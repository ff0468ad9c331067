import type { User } from '@tocsin/sdk';
import { useAccess } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../ui/edit-dialog.tsx';
import { formatName } from '../ui/format.ts';
import { ResourceList } from '../ui/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { Badge, Check, css as ui, Input, Select } from '../ui/ui.tsx';

const PATH = '/settings/users';
/** From the one that may most. */
const ROLES: readonly User['role'][] = ['owner', 'admin', 'manager', 'member', 'viewer'];

export function UsersPage() {
  const { canManage, user: own } = useAccess();
  return (
    <ResourceList<User>
      title="People"
      lead="Who takes part, what they may do, and which programs act for them."
      path={PATH}
      property="users"
      search={{ label: 'Search people', none: 'Nobody matches' }}
      create="Invite"
      canChange={canManage}
      editor={(user, onClose) => <UserDialog user={user} onClose={onClose} />}
      act={(user) => [
        user.active ? 'Deactivate' : 'Activate',
        { ...saveTo(PATH, user), body: { active: !user.active } },
      ]}
      columns={[
        ['Name', ({ id, name, email }) => <Named name={id === own?.id ? `${name} (you)` : name} about={email} />],
        ['Role', ({ role }) => formatName(role)],
        [
          'Seat',
          ({ seat }) =>
            seat === 'responder' ? <Badge tone="good">Responder</Badge> : <span className={ui.muted}>Reads only</span>,
        ],
        ['State', ({ active }) => (active ? 'Active' : <Badge>Deactivated</Badge>)],
      ]}
    />
  );
}

function UserDialog({ user, onClose }: { user: User | undefined; onClose: () => void }) {
  const own = useAccess().user?.role ?? 'viewer';
  // Nobody raises anybody above their own role.
  const roles = ROLES.slice(ROLES.indexOf(own));
  return (
    <EditDialog
      title={user === undefined ? 'Invite somebody' : `Edit ${user.name}`}
      initial={{
        name: user?.name ?? '',
        email: user?.email ?? '',
        role: user?.role ?? 'member',
        isResponder: user?.seat !== 'none',
      }}
      request={({ name, email, role, isResponder }) => ({
        ...saveTo(PATH, user),
        body: { name, role, seat: isResponder ? 'responder' : 'none', ...(user === undefined && { email }) },
      })}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="Name" {...bind('name')} />
          {user === undefined && (
            <Input
              label="Email"
              type="email"
              hint="An operator makes the link that signs them in."
              {...bind('email')}
            />
          )}
          <Select label="Role" options={roles.map((role) => [role, formatName(role)])} {...bind('role')} />
          <Check label="Responder seat: may change incidents" {...bind('isResponder')} />
        </>
      )}
    </EditDialog>
  );
}
