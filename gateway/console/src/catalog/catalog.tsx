/**
 * `catalog` is what incidents are about, and who answers for it. A service has a tier, a team that owns it, and the
 * names that monitors give it; an incident of the service belongs to that team. A team has members, whose role in it
 * gives no permission. This page lists both, and each has a page of its own with its incidents, so that whoever asks
 * about a service sees what happened to it. Services and teams are archived and not deleted: incidents keep them.
 * Everybody sees both lists; what changes them is there only for those who may.
 */
import type { Service, Team } from '@tocsin/sdk';
import { Link } from '@tanstack/react-router';
import { useAccess, useTeams, useTiers } from '../api/hooks.ts';
import { EditDialog, saveTo } from '../resources/edit-dialog.tsx';
import { plural, splitTexts } from '../ui/format.ts';
import { NAME, ResourceList } from '../resources/resource-list.tsx';
import { Input, Select, TextArea, choices } from '../ui/fields.tsx';
import { Page } from '../ui/layout.tsx';
import { Named } from '../ui/table.tsx';
import { Empty } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';

export function CatalogPage() {
  return (
    <Page guide="services" title="Services and teams" lead="What incidents are about, and who answers for it.">
      <div className={ui.stack}>
        <Services />
        <Teams />
      </div>
    </Page>
  );
}

function Services() {
  const { canManageServices } = useAccess();
  const tiers = useTiers();
  return (
    <ResourceList<Service>
      title="Services"
      path="/services"
      property="services"
      search={{ label: 'Search services', none: 'No service matches' }}
      create="Service"
      canChange={canManageServices}
      editor={(service, onClose) => <ServiceDialog service={service} onClose={onClose} />}
      empty={
        <Empty title="No service so far" icon="services">
          A service brings its team to every incident that names it.
        </Empty>
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
        ['Team', ({ owner_team_name: team }) => team ?? <span className={ui.muted}>none</span>],
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
        NAME,
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
