import type { TeamMembership, User } from '@tocsin/sdk';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { type CSSProperties, useState } from 'react';
import { sayError } from '../api/failures.ts';
import { MAX_CHOICES, useAccess, useList, useMembers, useWrite } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { useReadingOn } from '../resources/reading-on.ts';
import { TeamFilter } from '../resources/team-filter.tsx';
import { formatName, plural } from '../ui/format.ts';
import { type Columns, Table } from '../ui/table.tsx';
import { Check, Input, type Options, Select } from '../ui/fields.tsx';
import { Button, classes } from '../ui/button.tsx';
import { Confirm, SecretDialog } from '../ui/dialogs.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Menu, MenuItem } from '../ui/menu.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Loaded, Loading, More } from '../ui/states.tsx';
import { Ago, Badge } from '../ui/texts.tsx';
import { EraseUser } from './erase-user.tsx';
import { useTeamsOf } from './teams-of.ts';
import { MAY, readUsersSearch, ROLES, SEATS, STATES, type UsersSearch } from './users-search.ts';
import ui from '../ui/ui.module.css';
import filterCss from '../follow-ups/follow-ups.module.css';
import css from './users.module.css';

const PATH = '/settings/users';

const roleName = (role: User['role']) => `${formatName(role)}: ${MAY.get(role)}`;

/** What is open above the list. */
type Opened =
  | { kind: 'editor'; user: User | undefined }
  | { kind: 'question' | 'erasure'; user: User }
  | { kind: 'link'; user: User; url: string };

export function UsersPage() {
  const { canManage } = useAccess();
  const search = readUsersSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const change = (changes: { [Name in keyof UsersSearch]: UsersSearch[Name] | undefined }) =>
    void navigate({ to: '.', search: { ...search, ...changes }, replace: true, resetScroll: false });
  const [opened, setOpened] = useState<Opened>();
  // Of the page: the dialogue that asks for one is closed before it is made.
  const invite = useLink(setOpened);
  return (
    <Page
      title="People"
      guide="users"
      lead="Who takes part, what they may do, and which programs act for them."
      actions={
        canManage && (
          <Button kind="primary" icon="plus" onClick={() => setOpened({ kind: 'editor', user: undefined })}>
            Invite
          </Button>
        )
      }
    >
      <Filters search={search} change={change} />
      <Card>
        {search.team === undefined ? (
          <People search={search} change={change} open={setOpened} />
        ) : (
          <OfTeam key={search.team} team={search.team} search={search} change={change} open={setOpened} />
        )}
      </Card>
      {opened && <Dialogs opened={opened} open={setOpened} invite={invite} />}
    </Page>
  );
}

type Change = (changes: { [Name in keyof UsersSearch]: UsersSearch[Name] | undefined }) => void;

function Filters({ search, change }: { search: UsersSearch; change: Change }) {
  const select = <Name extends 'role' | 'seat' | 'state'>(name: Name, options: Options) => (
    <Select
      bare
      label={formatName(name)}
      options={[['', `Any ${name}`], ...options]}
      value={search[name] ?? ''}
      onValue={(value) => change({ [name]: value === '' ? undefined : value })}
    />
  );
  return (
    <div className={filterCss.filters}>
      <SearchField label="Search people" value={search.q} onValue={(q) => change({ q })} />
      {select(
        'role',
        ROLES.map((role) => [role, formatName(role)]),
      )}
      {select(
        'seat',
        SEATS.map(([seat, name]) => [seat, name]),
      )}
      {select('state', STATES)}
      <TeamFilter team={search.team} onTeam={(team) => change({ team })} />
    </div>
  );
}

interface PeopleProps {
  search: UsersSearch;
  change: Change;
  open: (opened: Opened) => void;
  /** Whom alone the list shows; default: everybody. */
  members?: ReadonlySet<number>;
}

/** The API has no filter of users by their team, so its members are found while the list is read. */
function OfTeam({ team, ...props }: PeopleProps & { team: number }) {
  const query = useMembers(`/teams/${team}/members`);
  return (
    <Loaded query={query}>
      {(rows) => (
        <>
          {rows.length >= MAX_CHOICES && <p className={ui.item}>Only the first {MAX_CHOICES} members count.</p>}
          <People {...props} members={new Set(rows.map(({ user_id: user }) => user))} />
        </>
      )}
    </Loaded>
  );
}

/** Users of a page, which is also how many have their teams read by one request. */
const PORTION = 100;

function People({ search, change, open, members }: PeopleProps) {
  const { q, role, seat, state, team } = search;
  const { user: me, canManage } = useAccess();
  const list = useList<User>(PATH, 'users', {
    ...{ q, role, seat, limit: PORTION },
    active: state && state === 'active',
  });
  const all = list.data?.rows ?? [];
  const rows = all.filter(({ id }) => members?.has(id) ?? true);
  const teamsOf = useTeamsOf(all.map(({ id }) => id));
  const isReadingOn = useReadingOn(list, {
    // A page of a search may be empty, although others match.
    isNeeded: members !== undefined || q !== undefined,
    ...{ read: all.length, shown: rows.length, enough: members === undefined ? 1 : Math.min(members.size, PORTION) },
  });
  const isFiltered = [q, role, seat, state, team].some((each) => each !== undefined);
  return (
    <>
      <Loaded query={list} rows={8}>
        {() =>
          rows.length > 0 ? (
            <div className={canManage ? css.people : undefined}>
              <Table
                columns={columnsFor({ me, teamsOf, canManage })}
                rows={rows}
                keyOf={({ id }) => id}
                actions={canManage && ((user) => <Actions user={user} open={open} />)}
              />
            </div>
          ) : isReadingOn ? (
            <Loading />
          ) : (
            <Empty
              title="Nobody matches"
              icon="search"
              action={
                isFiltered && (
                  <Button
                    onClick={() =>
                      change({ q: undefined, role: undefined, seat: undefined, state: undefined, team: undefined })
                    }
                  >
                    Show everybody
                  </Button>
                )
              }
            />
          )
        }
      </Loaded>
      {rows.length > 0 && !list.hasNextPage && (
        <p className={classes(ui.item, ui.muted)} style={{ borderTop: '1px solid var(--line)' }} role="status">
          {plural(rows.length, 'person', 'people')}
        </p>
      )}
      {!isReadingOn && <More list={list} isAutomatic={members === undefined} />}
    </>
  );
}

function Actions({ user, open }: { user: User; open: (opened: Opened) => void }) {
  const { user: me, canDelete } = useAccess();
  const isBelow = ROLES.indexOf(user.role) >= ROLES.indexOf(me?.role ?? 'viewer');
  const activate = useWrite(PATH);
  const link = useLink(open);
  return (
    <Menu label={`More for ${user.name}`}>
      <MenuItem onClick={() => open({ kind: 'editor', user })}>Edit</MenuItem>
      {user.active && isBelow && <MenuItem onClick={() => link(user)}>Sign-in link</MenuItem>}
      <MenuItem
        onClick={() =>
          user.active
            ? open({ kind: 'question', user })
            : activate.mutate({ ...saveTo(PATH, user), body: { active: true } }, { onError: sayError })
        }
      >
        {user.active ? 'Deactivate' : 'Activate'}
      </MenuItem>
      {canDelete && <MenuItem onClick={() => open({ kind: 'erasure', user })}>Erase</MenuItem>}
    </Menu>
  );
}

/** Makes a link that signs somebody in, and shows it. */
function useLink(open: (opened: Opened) => void) {
  const make = useWrite<{ login_link: { path: string } }>();
  return (user: User) =>
    make.mutate(
      { path: `${PATH}/${user.id}/login-link` },
      {
        onSuccess: ({ login_link: { path } }) => open({ kind: 'link', user, url: window.location.origin + path }),
        onError: sayError,
      },
    );
}

function Dialogs({
  opened,
  open,
  invite,
}: {
  opened: Opened;
  open: (opened: Opened | undefined) => void;
  invite: (user: User) => void;
}) {
  const deactivate = useWrite(PATH);
  const { kind, user } = opened;
  const close = () => open(undefined);
  switch (kind) {
    case 'editor':
      return <UserDialog user={user} onInvited={invite} onClose={close} />;
    case 'erasure':
      return <EraseUser user={user} onClose={close} />;
    case 'link':
      return (
        <SecretDialog title={`A link for ${user.name}`} label="Sign-in link" value={opened.url} onClose={close}>
          Send it to {user.email}: it signs them in once, within ten minutes, and is not shown again.
        </SecretDialog>
      );
    case 'question':
      return (
        <Confirm
          title={`Deactivate ${user.name}?`}
          label="Deactivate"
          busy={deactivate.isPending}
          error={deactivate.error}
          onClose={close}
          onSubmit={() => deactivate.mutate({ ...saveTo(PATH, user), body: { active: false } }, { onSuccess: close })}
        >
          Their sessions end, and their keys do not work until they are activated again. Incidents keep their name.
        </Confirm>
      );
  }
}

/** Teams of a row; the others are counted. */
const SHOWN_TEAMS = 2;

function Teams({ teams }: { teams: readonly TeamMembership[] | undefined }) {
  if (teams === undefined) return null;
  if (teams.length === 0) return <span className={ui.muted}>none</span>;
  const others = teams.slice(SHOWN_TEAMS);
  return (
    <span style={{ display: 'block', minWidth: '8rem', overflowWrap: 'anywhere' }}>
      {teams.slice(0, SHOWN_TEAMS).map(({ team_id: id, team_name: name, role }, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <Link to="/catalog/teams/$id" params={{ id: String(id) }}>
            <bdi>{name}</bdi>
          </Link>
          {role === 'lead' && ' (lead)'}
        </span>
      ))}
      {others.length > 0 && (
        <span className={ui.muted} title={others.map(({ team_name: name }) => name).join(', ')}>
          {` and ${others.length} more`}
        </span>
      )}
    </span>
  );
}

/** The first characters of a name, as people see them. */
function initialsOf(name: string): string {
  const words = name.trim().split(/\s+/);
  const characters = new Intl.Segmenter();
  return [words[0], words.length > 1 ? words.at(-1) : undefined]
    .map((word = '') => characters.segment(word)[Symbol.iterator]().next().value?.segment ?? '')
    .join('')
    .toUpperCase();
}

/** A role or a seat, with what it allows. */
const InWords = ({ name, may }: { name: string | undefined; may: string | undefined }) => (
  <div style={{ whiteSpace: 'nowrap' }}>
    <p>{name}</p>
    <p className={ui.hint}>{may}</p>
  </div>
);

// Not in the style sheet, all of which the first screen loads.
const INITIALS: CSSProperties = {
  display: 'grid',
  placeItems: 'center',
  width: '2.25rem',
  height: '2.25rem',
  marginTop: '0.15rem',
  borderRadius: '50%',
  background: 'var(--accent-soft)',
  color: 'var(--accent)',
  fontSize: 'var(--t-12)',
  fontWeight: 600,
};
/** In whole where the pointer rests. */
const ONE_LINE: CSSProperties = { overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap' };

const Person = ({ user: { name, email, active }, isMe }: { user: User; isMe: boolean }) => (
  <div style={{ display: 'flex', gap: 'var(--s-3)', width: 'min(17.5rem, 70vw)' }}>
    <span
      style={active ? INITIALS : { ...INITIALS, background: 'var(--hover)', color: 'var(--muted)' }}
      aria-hidden="true"
    >
      {initialsOf(name)}
    </span>
    <div style={{ flex: 1, minWidth: 0 }}>
      <p className={ui.strong} style={{ overflowWrap: 'anywhere' }}>
        <bdi>{name}</bdi>
        {isMe && ' (you)'} {!active && <Badge>Deactivated</Badge>}
      </p>
      <p className={ui.muted} style={{ ...ONE_LINE, fontSize: 'var(--t-13)' }} title={email}>
        {email}
      </p>
    </div>
  </div>
);

const columnsFor = ({
  me,
  teamsOf,
  canManage,
}: {
  me: { id: number } | undefined;
  teamsOf: ReturnType<typeof useTeamsOf>;
  canManage: boolean;
}): Columns<User> => [
  ['Name', (user) => <Person user={user} isMe={user.id === me?.id} />],
  ['Role', ({ role }) => <InWords name={formatName(role)} may={MAY.get(role)} />],
  [
    'Seat',
    ({ seat }) => {
      const [, name, may] = SEATS.find(([each]) => each === seat) ?? [];
      return <InWords name={name} may={may} />;
    },
  ],
  ['Teams', ({ id }) => <Teams teams={teamsOf(id)} />],
  // The API tells it to those alone who manage people.
  ...(canManage ? [['Last seen', ({ last_seen_at: time }: User) => <Ago time={time} />] as const] : []),
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
