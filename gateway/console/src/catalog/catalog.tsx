/**
 * `catalog` is what incidents are about, and who answers for it. A service has a tier, a team that owns it, and the
 * names that monitors give it; an incident of the service belongs to that team. A team has members, whose role in it
 * gives no permission. This page lists both, with how many incidents are open, which one request says for all rows.
 * Each has a page of its own (`service.tsx`, `team.tsx`) with its incidents, where its properties are changed as well
 * (`about.tsx`). Services and teams are archived and not deleted: incidents keep them. Everybody sees both lists; what
 * changes them is there only for those who may.
 */
import type { Service, Team } from '@tocsin/sdk';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useAccess, useTeams, useTiers } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { plural, splitTexts } from '../ui/format.ts';
import { ResourceList } from '../resources/resource-list.tsx';
import { TeamFilter } from '../resources/team-filter.tsx';
import { Input, Select, TextArea, choices } from '../ui/fields.tsx';
import { Card, Page } from '../ui/layout.tsx';
import { Copy } from '../ui/dialogs.tsx';
import { Tab, Tabs } from '../ui/tabs.tsx';
import { Named } from '../ui/table.tsx';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import type { ListSearch } from '../incidents/incident-filters.ts';
import css from './catalog.module.css';
import type { CatalogSearch } from './catalog-search.ts';
import { useOpenCounts } from './open-counts.ts';

const route = getRouteApi('/catalog');

export function CatalogPage() {
  const { tab, team } = route.useSearch();
  const navigate = useNavigate({ from: '/catalog' });
  const change = (changes: { [Name in keyof CatalogSearch]: CatalogSearch[Name] | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true, resetScroll: false });
  return (
    <Page guide="services" title="Services and teams" lead="What incidents are about, and who answers for it.">
      <Tabs label="Of the catalog">
        <Tab label="Services" isCurrent={tab === undefined} onChoose={() => change({ tab: undefined })} />
        <Tab label="Teams" isCurrent={tab === 'teams'} onChoose={() => change({ tab: 'teams' })} />
      </Tabs>
      <div className={ui.stack}>
        {tab === 'teams' ? <Teams /> : <Services team={team} onTeam={(owner) => change({ team: owner })} />}
        <FromFiles />
      </div>
    </Page>
  );
}

const PLAN = 'tocsin plan workspace.yaml';

/** How the catalog is kept in files instead. */
const FromFiles = () => (
  <Card title="Plan from files" padded>
    <p>
      A file may have all services and teams. This shows what it would change; <code>tocsin apply</code> changes it.
    </p>
    <div className={css.command}>
      <code className={ui.code}>{PLAN}</code>
      <Copy value={PLAN} />
    </div>
  </Card>
);

/** The open incidents of a row, as a link to their list. */
const Open = ({ name, count, search }: { name: string; count: string | undefined; search: ListSearch }) =>
  count === undefined ? null : count === '0' ? (
    <span className={ui.muted}>none</span>
  ) : (
    <Link to="/" search={search} aria-label={`${name}: ${count} open`}>
      {count}
    </Link>
  );

function Services({ team, onTeam }: { team: number | undefined; onTeam: (team: number | undefined) => void }) {
  const { canManageServices } = useAccess();
  const tiers = useTiers();
  const open = useOpenCounts(({ service }) => service);
  return (
    <ResourceList<Service>
      title="Services"
      path="/services"
      property="services"
      search={{ label: 'Search services', none: 'No service matches' }}
      filter={{ owner_team_id: team }}
      controls={<TeamFilter label="Owner" any="Any owner" team={team} onTeam={onTeam} />}
      create="Service"
      canChange={canManageServices}
      editor={(service, onClose) => <ServiceDialog service={service} onClose={onClose} />}
      empty={
        team === undefined ? (
          <Empty title="No service so far" icon="services">
            A service brings its team to every incident that names it.
          </Empty>
        ) : (
          <Empty title="The team owns no service" icon="services" />
        )
      }
      columns={[
        [
          'Name',
          ({ id, name, slug, description, archived_at: archived }) => (
            <Named
              name={
                <>
                  <Link to="/catalog/services/$id" params={{ id: String(id) }}>
                    {name}
                  </Link>{' '}
                  {archived && <Badge>Archived</Badge>}
                </>
              }
              about={description ?? slug}
            />
          ),
        ],
        ['Tier', ({ tier }) => <Badge>{tiers.find(({ key }) => key === tier)?.label ?? tier}</Badge>],
        ['Team', ({ owner_team_name: owner }) => owner ?? <span className={ui.muted}>none</span>],
        ['Open', ({ name, slug }) => <Open name={name} count={open(slug)} search={{ service: slug }} />],
      ]}
    />
  );
}

function ServiceDialog({ service, onClose }: { service: Service | undefined; onClose: () => void }) {
  const tiers = useTiers();
  const { data: teams = [] } = useTeams();
  return (
    <EditDialog
      title={service === undefined ? 'New service' : `Edit ${service.name}`}
      initial={{
        name: service?.name ?? '',
        tier: service?.tier ?? '',
        owner_team_id: String(service?.owner_team_id ?? ''),
        description: service?.description ?? '',
        names: service?.observability_names?.join(', ') ?? '',
      }}
      request={({ name, tier, owner_team_id: team, description, names }) => ({
        ...saveTo('/services', service),
        body: {
          name,
          ...(tier !== '' && { tier }),
          owner_team_id: team === '' ? null : Number(team),
          description: description === '' ? null : description,
          observability_names: splitTexts(names, ','),
        },
      })}
      onClose={onClose}
    >
      {(bind) => (
        <>
          <Input label="Name" {...bind('name')} />
          <div className={ui.pair}>
            <Select
              label="Tier"
              options={[
                ...(service === undefined ? [['', 'Default'] as const] : []),
                ...choices(tiers, 'key', 'label'),
              ]}
              {...bind('tier')}
            />
            <Select label="Team" options={[['', 'None'], ...choices(teams, 'id', 'name')]} {...bind('owner_team_id')} />
          </div>
          <Input
            label="Names in monitoring"
            hint="What monitors call it besides its slug, with commas between them."
            {...bind('names')}
            name="observability_names"
          />
          <TextArea label="Description" {...bind('description')} />
        </>
      )}
    </EditDialog>
  );
}

function Teams() {
  const { canManageTeams } = useAccess();
  const open = useOpenCounts(({ team_id: team }) => team);
  return (
    <ResourceList<Team>
      title="Teams"
      path="/teams"
      property="teams"
      create="Team"
      canChange={canManageTeams}
      editor={(team, onClose) => <TeamDialog team={team} onClose={onClose} />}
      empty={<Empty title="No team so far" icon="users" />}
      columns={[
        [
          'Name',
          ({ id, name, slug, description, archived_at: archived }) => (
            <Named
              name={
                <>
                  <Link to="/catalog/teams/$id" params={{ id: String(id) }}>
                    {name}
                  </Link>{' '}
                  {archived && <Badge>Archived</Badge>}
                </>
              }
              about={description ?? slug}
            />
          ),
        ],
        [
          'Members',
          ({ id, name, member_count: count = 0 }) => (
            <Link
              to="/catalog/teams/$id"
              params={{ id: String(id) }}
              aria-label={`${name}: ${plural(count, 'member')}`}
            >
              {plural(count, 'member')}
            </Link>
          ),
        ],
        ['Open', ({ id, name }) => <Open name={name} count={open(id)} search={{ team: id }} />],
      ]}
    />
  );
}

const TeamDialog = ({ team, onClose }: { team: Team | undefined; onClose: () => void }) => (
  <EditDialog
    title={team === undefined ? 'New team' : `Edit ${team.name}`}
    initial={{ name: team?.name ?? '', description: team?.description ?? '' }}
    request={({ name, description }) => ({
      ...saveTo('/teams', team),
      body: { name, description: description === '' ? null : description },
    })}
    onClose={onClose}
  >
    {(bind) => (
      <>
        <Input label="Name" {...bind('name')} />
        <TextArea label="Description" {...bind('description')} />
      </>
    )}
  </EditDialog>
);
