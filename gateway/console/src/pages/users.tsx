import { useState } from 'react';
import { useAccess, useList, useWrite } from '../api/hooks.ts';
import { type Pagination, type Role, ROLES, type User } from '../api/types.ts';
import { EditDialog } from '../ui/edit-dialog.tsx';
import { formatName } from '../ui/format.ts';
import { Named, Table } from '../ui/table.tsx';
import { sayError } from '../ui/toast.tsx';
import { Badge, Button, Card, Check, css as ui, Empty, Input, Loaded, More, Page, Select } from '../ui/ui.tsx';

const PATH = '/settings/users';

export function UsersPage() {
  const { canManage, user: own } = useAccess();
  const [text, setText] = useState('');
  const [edited, setEdited] = useState<User | 'new'>();
  const change = useWrite(PATH);
  const list = useList<{ users: User[]; pagination: Pagination }>(PATH, { q: text });
  return (
    <Page
      title="People"
      lead="Who takes part, what they may do, and which programs act for them."
      actions={
        <>
          <Input
            bare
            label="Search people"
            type="search"
            placeholder="Search"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          {canManage && (
            <Button kind="primary" icon="plus" onClick={() => setEdited('new')}>
              Invite
            </Button>
          )}
        </>
      }
    >
      <Card>
        <Loaded query={list}>
          {({ pages }) => {
            const rows = pages.flatMap(({ users }) => users);
            if (rows.length === 0) return <Empty title="Nobody matches" icon="search" />;
            return (
              <Table
                columns={[
                  [
                    'Name',
                    ({ id, name, email }) => <Named name={id === own?.id ? `${name} (you)` : name} about={email} />,
                  ],
                  ['Role', ({ role }) => formatName(role)],
                  [
                    'Seat',
                    ({ seat }) =>
                      seat === 'responder' ? (
                        <Badge tone="good">Responder</Badge>
                      ) : (
                        <span className={ui.muted}>Reads only</span>
                      ),
                  ],
                  ['State', ({ active }) => (active ? 'Active' : <Badge>Deactivated</Badge>)],
                ]}
                rows={rows}
                keyOf={({ id }) => id}
                actions={
                  canManage &&
                  ((user) => (
                    <>
                      <Button kind="quiet" small onClick={() => setEdited(user)}>
                        Edit
                      </Button>
                      <Button
                        kind="quiet"
                        small
                        onClick={() =>
                          change.mutate(
                            {
                              method: 'PATCH',
                              path: `${PATH}/${user.id}`,
                              revision: user.revision,
                              body: { active: !user.active },
                            },
                            { onError: sayError },
                          )
                        }
                      >
                        {user.active ? 'Deactivate' : 'Activate'}
                      </Button>
                    </>
                  ))
                }
              />
            );
          }}
        </Loaded>
        <More list={list} />
      </Card>
      {edited && <UserDialog user={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
    </Page>
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
        method: user === undefined ? 'POST' : 'PATCH',
        path: user === undefined ? PATH : `${PATH}/${user.id}`,
        ...(user !== undefined && { revision: user.revision }),
        body: { name, role, seat: isResponder ? 'responder' : 'none', ...(user === undefined && { email }) },
      })}
      onClose={onClose}
    >
      {(draft, set) => (
        <>
          <Input label="Name" name="name" value={draft.name} onChange={({ target }) => set({ name: target.value })} />
          {user === undefined && (
            <Input
              label="Email"
              name="email"
              type="email"
              hint="An operator makes the link that signs them in."
              value={draft.email}
              onChange={({ target }) => set({ email: target.value })}
            />
          )}
          <Select
            label="Role"
            name="role"
            options={roles.map((role) => [role, formatName(role)])}
            value={draft.role}
            onChange={({ target }) => set({ role: target.value as Role })}
          />
          <Check
            label="Responder seat: may change incidents"
            checked={draft.isResponder}
            onChange={({ target }) => set({ isResponder: target.checked })}
          />
        </>
      )}
    </EditDialog>
  );
}
