import { useState } from 'react';
import { useAccess, useList, useTeams, useTiers, useWrite } from '../api/hooks.ts';
import type { Pagination, Service, Team } from '../api/types.ts';
import { plural } from '../ui/format.ts';
import { EditDialog } from '../ui/edit-dialog.tsx';
import { Named, Table } from '../ui/table.tsx';
import { sayError } from '../ui/toast.tsx';
import { Badge, Button, Card, css as ui, Empty, Input, Loaded, More, Page, Select, TextArea } from '../ui/ui.tsx';

export function CatalogPage() {
  return (
    <Page title="Services and teams" lead="What incidents are about, and who answers for it.">
      <div className={ui.stack}>
        <Services />
        <Teams />
      </div>
    </Page>
  );
}

function Services() {
  const { canManageServices } = useAccess();
  const [text, setText] = useState('');
  const [edited, setEdited] = useState<Service | 'new'>();
  const tiers = useTiers();
  const archive = useWrite('/services');
  const list = useList<{ services: Service[]; pagination: Pagination }>('/services', { q: text });
  const tierOf = (key: string) => tiers.find((tier) => tier.key === key)?.label ?? key;
  return (
    <Card
      title="Services"
      actions={
        <>
          <Input
            bare
            label="Search services"
            type="search"
            placeholder="Search"
            value={text}
            onChange={({ target }) => setText(target.value)}
          />
          {canManageServices && (
            <Button small icon="plus" onClick={() => setEdited('new')}>
              Service
            </Button>
          )}
        </>
      }
    >
      <Loaded query={list}>
        {({ pages }) => {
          const rows = pages.flatMap(({ services }) => services);
          if (rows.length === 0) {
            return text === '' ? (
              <Empty title="No service so far" icon="services">
                A service brings its team to every incident that names it.
              </Empty>
            ) : (
              <Empty title="No service matches" icon="search" />
            );
          }
          return (
            <Table
              columns={[
                ['Name', ({ name, description, slug }) => <Named name={name} about={description ?? slug} />],
                ['Tier', ({ tier }) => <Badge>{tierOf(tier)}</Badge>],
                ['Team', ({ owner_team_name: team }) => team ?? <span className={ui.muted}>none</span>],
              ]}
              rows={rows}
              keyOf={({ id }) => id}
              actions={
                canManageServices &&
                ((service) => (
                  <>
                    <Button kind="quiet" small onClick={() => setEdited(service)}>
                      Edit
                    </Button>
                    <Button
                      kind="quiet"
                      small
                      onClick={() =>
                        archive.mutate({ method: 'DELETE', path: `/services/${service.id}` }, { onError: sayError })
                      }
                    >
                      Archive
                    </Button>
                  </>
                ))
              }
            />
          );
        }}
      </Loaded>
      <More list={list} />
      {edited && <ServiceDialog service={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
    </Card>
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
        team: service?.owner_team_id === undefined ? '' : String(service.owner_team_id),
        description: service?.description ?? '',
      }}
      request={({ name, tier, team, description }) => ({
        method: service === undefined ? 'POST' : 'PATCH',
        path: service === undefined ? '/services' : `/services/${service.id}`,
        ...(service !== undefined && { revision: service.revision }),
        body: {
          name,
          ...(tier !== '' && { tier }),
          owner_team_id: team === '' ? null : Number(team),
          description: description === '' ? null : description,
        },
      })}
      onClose={onClose}
    >
      {(draft, set) => (
        <>
          <Input label="Name" name="name" value={draft.name} onChange={({ target }) => set({ name: target.value })} />
          <div className={ui.pair}>
            <Select
              label="Tier"
              name="tier"
              options={[
                ...(service === undefined ? [['', 'Default'] as const] : []),
                ...tiers.map(({ key, label }) => [key, label] as const),
              ]}
              value={draft.tier}
              onChange={({ target }) => set({ tier: target.value })}
            />
            <Select
              label="Team"
              name="owner_team_id"
              options={[['', 'None'], ...teams.map(({ id, name }) => [String(id), name] as const)]}
              value={draft.team}
              onChange={({ target }) => set({ team: target.value })}
            />
          </div>
          <TextArea
            label="Description"
            name="description"
            value={draft.description}
            onChange={({ target }) => set({ description: target.value })}
          />
        </>
      )}
    </EditDialog>
  );
}

function Teams() {
  const { canManageTeams } = useAccess();
  const [edited, setEdited] = useState<Team | 'new'>();
  const archive = useWrite('/teams');
  const list = useList<{ teams: Team[]; pagination: Pagination }>('/teams');
  return (
    <Card
      title="Teams"
      actions={
        canManageTeams && (
          <Button small icon="plus" onClick={() => setEdited('new')}>
            Team
          </Button>
        )
      }
    >
      <Loaded query={list}>
        {({ pages }) => {
          const rows = pages.flatMap(({ teams }) => teams);
          if (rows.length === 0) return <Empty title="No team so far" icon="users" />;
          return (
            <Table
              columns={[
                ['Name', ({ name, description, slug }) => <Named name={name} about={description ?? slug} />],
                ['Members', ({ member_count: members = 0 }) => plural(members, 'member')],
              ]}
              rows={rows}
              keyOf={({ id }) => id}
              actions={
                canManageTeams &&
                ((team) => (
                  <>
                    <Button kind="quiet" small onClick={() => setEdited(team)}>
                      Edit
                    </Button>
                    <Button
                      kind="quiet"
                      small
                      onClick={() =>
                        archive.mutate({ method: 'DELETE', path: `/teams/${team.id}` }, { onError: sayError })
                      }
                    >
                      Archive
                    </Button>
                  </>
                ))
              }
            />
          );
        }}
      </Loaded>
      <More list={list} />
      {edited && <TeamDialog team={edited === 'new' ? undefined : edited} onClose={() => setEdited(undefined)} />}
    </Card>
  );
}

const TeamDialog = ({ team, onClose }: { team: Team | undefined; onClose: () => void }) => (
  <EditDialog
    title={team === undefined ? 'New team' : `Edit ${team.name}`}
    initial={{ name: team?.name ?? '', description: team?.description ?? '' }}
    request={({ name, description }) => ({
      method: team === undefined ? 'POST' : 'PATCH',
      path: team === undefined ? '/teams' : `/teams/${team.id}`,
      ...(team !== undefined && { revision: team.revision }),
      body: { name, description: description === '' ? null : description },
    })}
    onClose={onClose}
  >
    {(draft, set) => (
      <>
        <Input label="Name" name="name" value={draft.name} onChange={({ target }) => set({ name: target.value })} />
        <TextArea
          label="Description"
          name="description"
          value={draft.description}
          onChange={({ target }) => set({ description: target.value })}
        />
      </>
    )}
  </EditDialog>
);
