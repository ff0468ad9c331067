import type { Service, Team, TeamMember } from '@tocsin/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useAccess, useGet, useMembers, usePeople, useTeams, useTiers } from '../api/hooks.ts';
import { FollowUpsCard } from '../follow-ups/follow-ups-card.tsx';
import { Nothing, Term } from '../incident/editable.tsx';
import { choiceEditor } from '../incident/editors.tsx';
import { EditDialog } from '../resources/edit-dialog.tsx';
import { formatName } from '../ui/format.ts';
import { ResourceList } from '../resources/resource-list.tsx';
import { Named } from '../ui/table.tsx';
import { choices, Select } from '../ui/fields.tsx';
import { Page } from '../ui/layout.tsx';
import { Empty, Loaded } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { About } from './about.tsx';
import { OnCallCard } from './on-call.tsx';
import { IncidentsCard } from '../incidents/incidents-card.tsx';

const route = getRouteApi('/catalog/teams/$id');

/** A team: its open incidents and follow-ups, who is on call, its services and its members, whose role in it gives no permission. */
export function TeamPage() {
  const { id } = route.useParams();
  const { canManageTeams } = useAccess();
  const tiers = useTiers();
  const team = `/teams/${encodeURIComponent(id)}`;
  const query = useGet<{ team: Team }>(team);
  const path = `${team}/members`;
  return (
    <Loaded query={query} heading="h1">
      {({ team: shown, team: { id: teamId, name, archived_at: archived } }) => (
        <Page
          title={name}
          lead={archived && 'The team is archived: its members can be changed once it is restored.'}
          guide="teams"
        >
          <div className={ui.stack}>
            <IncidentsCard title="Open incidents" none="No incident is open" search={{ team: teamId }} />
            <FollowUpsCard filter={{ team_id: teamId }} />
            <AboutTeam path={team} team={shown} />
            <OnCallCard team={teamId} canManage={canManageTeams && archived === undefined} />
            <ResourceList<Service>
              title="Services"
              path="/services"
              property="services"
              filter={{ owner_team_id: teamId }}
              canChange={false}
              empty={<Empty title="No service so far" icon="services" />}
              columns={[
                [
                  'Name',
                  (service) => (
                    <Link to="/catalog/services/$id" params={{ id: String(service.id) }}>
                      {service.name}
                    </Link>
                  ),
                ],
                ['Tier', ({ tier }) => <Badge>{tiers.find(({ key }) => key === tier)?.label ?? tier}</Badge>],
              ]}
            />
            <ResourceList<TeamMember>
              title="Members"
              path={path}
              property="members"
              create="Add member"
              canChange={canManageTeams && archived === undefined}
              editor={(member, onClose) => <MemberDialog path={path} member={member} onClose={onClose} />}
              act={({ user_id: user }) => ['Remove', { method: 'DELETE', path: `${path}/${user}` }]}
              empty={<Empty title="No member so far" icon="users" />}
              columns={[
                ['Name', (member) => <Named name={member.name} about={member.email} />],
                ['Role', ({ role }) => formatName(role)],
              ]}
            />
          </div>
        </Page>
      )}
    </Loaded>
  );
}

function AboutTeam({ path, team }: { path: string; team: Team }) {
  const { canManageTeams } = useAccess();
  const { data: teams = [] } = useTeams();
  const { id, parent_team_id: parent } = team;
  const nameOf = (other: string) => teams.find((each) => String(each.id) === other)?.name ?? `Team ${other}`;
  const others = teams.filter((each) => each.id !== id);
  return (
    <About path={path} row={team} canEdit={canManageTeams && team.archived_at === undefined}>
      <Term
        name="parent_team_id"
        term="Team above"
        value={String(parent ?? '')}
        editor={choiceEditor([['', 'None'], ...choices(others, 'id', 'name')], nameOf)}
        toApi={(chosen) => (chosen === '' ? null : Number(chosen))}
        after={
          parent !== undefined && (
            <Link
              to="/catalog/teams/$id"
              params={{ id: String(parent) }}
              aria-label={`${nameOf(String(parent))}: its page`}
            >
              Its page
            </Link>
          )
        }
      >
        {parent === undefined ? <Nothing /> : <bdi>{nameOf(String(parent))}</bdi>}
      </Term>
    </About>
  );
}

function MemberDialog({
  path,
  member,
  onClose,
}: {
  path: string;
  member: TeamMember | undefined;
  onClose: () => void;
}) {
  const { data: people = [] } = usePeople();
  const { data: members = [] } = useMembers(path);
  const others = people.filter(({ id, active }) => active && members.every(({ user_id: user }) => user !== id));
  return (
    <EditDialog
      title={member === undefined ? 'Add a member' : `Edit ${member.name}`}
      label={member === undefined ? 'Add' : 'Save'}
      initial={{ user_id: '', role: member?.role ?? 'member' }}
      request={({ user_id: user, role }) =>
        member === undefined
          ? { path, body: { user_id: Number(user) || undefined, role } }
          : { method: 'PATCH', path: `${path}/${member.user_id}`, body: { role } }
      }
      onClose={onClose}
    >
      {(bind) => (
        <>
          {member === undefined && (
            <Select
              label="Who?"
              options={[
                ['', 'Choose somebody'],
                ...others.map(({ id, name, email }) => [String(id), `${name}, ${email}`] as const),
              ]}
              {...bind('user_id')}
            />
          )}
          <Select
            label="Role"
            options={[
              ['member', 'Member'],
              ['lead', 'Lead'],
            ]}
            {...bind('role')}
          />
        </>
      )}
    </EditDialog>
  );
}
