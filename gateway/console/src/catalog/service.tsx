import type { Service } from '@tocsin/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useState } from 'react';
import { useAccess, useGet, useTeams, useTiers } from '../api/hooks.ts';
import { FollowUpsCard } from '../follow-ups/follow-ups-card.tsx';
import { DeclareDialog } from '../incident/declare.tsx';
import { Nothing, Term } from '../incident/editable.tsx';
import { choiceEditor, listEditor, textEditor } from '../incident/editors.tsx';
import { IncidentsCard } from '../incidents/incidents-card.tsx';
import { Button } from '../ui/button.tsx';
import { choices } from '../ui/fields.tsx';
import { Page } from '../ui/layout.tsx';
import { SafeLink } from '../ui/markdown.tsx';
import { Loaded } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { About } from './about.tsx';
import { OnCallCard } from './on-call.tsx';

const route = getRouteApi('/catalog/services/$id');

/** A service: its incidents, what is left to do after them, who answers for it, and what monitors call it. */
export function ServicePage() {
  const { id } = route.useParams();
  const { canRespond } = useAccess();
  const [isDeclaring, setDeclaring] = useState(false);
  const path = `/services/${encodeURIComponent(id)}`;
  const query = useGet<{ service: Service }>(path);
  return (
    <Loaded query={query} heading="h1">
      {({ service }) => (
        <Page
          guide="services"
          title={service.name}
          actions={
            service.archived_at ? (
              <Badge>Archived</Badge>
            ) : (
              canRespond && (
                <Button kind="primary" icon="plus" onClick={() => setDeclaring(true)}>
                  Declare here
                </Button>
              )
            )
          }
        >
          <div className={ui.stack}>
            <IncidentsCard title="Open incidents" none="No incident is open" search={{ service: service.slug }} />
            <FollowUpsCard filter={{ service: service.slug }} />
            <AboutService path={path} service={service} />
            {service.owner_team_id !== undefined && <OnCallCard team={service.owner_team_id} />}
            <IncidentsCard
              title="Incidents"
              none="No incident so far"
              search={{ view: 'all', service: service.slug }}
            />
          </div>
          {isDeclaring && <DeclareDialog service={service.slug} onClose={() => setDeclaring(false)} />}
        </Page>
      )}
    </Loaded>
  );
}

function AboutService({ path, service }: { path: string; service: Service }) {
  const { canManageServices } = useAccess();
  const tiers = choices(useTiers(), 'key', 'label');
  const { data: teams = [] } = useTeams();
  const { owner_team_id: team, owner_team_name: teamName = '', tier, tags } = service;
  const { observability_names: names = [], runbook_url: runbook = '' } = service;
  return (
    <About path={path} row={service} canEdit={canManageServices && service.archived_at === undefined}>
      <Term
        name="owner_team_id"
        term="Team"
        value={String(team ?? '')}
        editor={choiceEditor([['', 'None'], ...choices(teams, 'id', 'name')], () => teamName)}
        toApi={(chosen) => (chosen === '' ? null : Number(chosen))}
        after={
          team !== undefined && (
            <Link to="/catalog/teams/$id" params={{ id: String(team) }} aria-label={`${teamName}: its page`}>
              Its page
            </Link>
          )
        }
      >
        {team === undefined ? <Nothing /> : <bdi>{teamName}</bdi>}
      </Term>
      <Term name="tier" term="Tier" value={tier} editor={choiceEditor(tiers)}>
        <Badge>{tiers.find(([key]) => key === tier)?.[1] ?? tier}</Badge>
      </Term>
      <Term
        name="runbook_url"
        term="Runbook"
        value={runbook}
        editor={textEditor({ type: 'url', max: 2_048 })}
        toApi={(url) => url || null}
        after={runbook && <SafeLink href={runbook}>Open the runbook</SafeLink>}
      >
        {runbook || <Nothing />}
      </Term>
      <Term name="tags" term="Tags" label="Tags, with commas between them" value={tags} editor={listEditor}>
        {tags.length === 0 ? <Nothing /> : <Tags tags={tags} />}
      </Term>
      <Term
        name="observability_names"
        term="Names in monitoring"
        label="Names in monitoring, with commas between them"
        value={names}
        editor={listEditor}
      >
        {names.join(', ') || <Nothing />}
      </Term>
    </About>
  );
}

const Tags = ({ tags }: { tags: readonly string[] }) => (
  <span className={ui.row}>
    {tags.map((tag) => (
      <Badge key={tag}>{tag}</Badge>
    ))}
  </span>
);
