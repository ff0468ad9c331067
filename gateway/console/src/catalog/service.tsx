import type { Service } from '@tocsin/sdk';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useGet, useTiers } from '../api/hooks.ts';
import { formatValue } from '../ui/format.ts';
import { Card, Page } from '../ui/layout.tsx';
import { Loaded } from '../ui/states.tsx';
import { Badge } from '../ui/texts.tsx';
import ui from '../ui/ui.module.css';
import { OnCallCard } from './on-call.tsx';
import { IncidentsCard } from '../incidents/incidents-card.tsx';

const route = getRouteApi('/catalog/services/$id');

/** A service: who answers for it, what monitors call it, and its incidents. */
export function ServicePage() {
  const { id } = route.useParams();
  const tiers = useTiers();
  const query = useGet<{ service: Service }>(`/services/${encodeURIComponent(id)}`);
  return (
    <Loaded query={query} heading="h1">
      {({ service }) => (
        <Page
          guide="services"
          title={service.name}
          lead={service.description ?? `A service, ${service.slug} in the API.`}
          actions={service.archived_at && <Badge>Archived</Badge>}
        >
          <div className={ui.stack}>
            <Card title="About" padded>
              <dl className={ui.terms}>
                <dt>Team</dt>
                <dd>
                  {service.owner_team_id === undefined ? (
                    'none'
                  ) : (
                    <Link to="/catalog/teams/$id" params={{ id: String(service.owner_team_id) }}>
                      {service.owner_team_name}
                    </Link>
                  )}
                </dd>
                <dt>Tier</dt>
                <dd>{tiers.find(({ key }) => key === service.tier)?.label ?? service.tier}</dd>
                <dt>Names in monitoring</dt>
                <dd>{formatValue(service.observability_names)}</dd>
              </dl>
            </Card>
            {service.owner_team_id !== undefined && <OnCallCard team={service.owner_team_id} />}
            <IncidentsCard
              title="Incidents"
              none="No incident so far"
              search={{ view: 'all', service: service.slug }}
            />
          </div>
        </Page>
      )}
    </Loaded>
  );
}
