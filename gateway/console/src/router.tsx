import { createRootRoute, createRoute, createRouter, Link } from '@tanstack/react-router';
import { AlertsPage, readAlertsSearch } from './settings/alerts.tsx';
import { CatalogPage } from './catalog/catalog.tsx';
import { ConnectAgentPage } from './sign-in/connect-agent.tsx';
import { ConfigurationPage } from './settings/configuration.tsx';
import { TrackersPage } from './settings/trackers.tsx';
import { DestinationsPage } from './settings/destinations.tsx';
import { FieldsPage } from './settings/fields.tsx';
import { FollowUpsPage, readFollowUpsSearch } from './follow-ups/follow-ups.tsx';
import { readListSearch } from './incidents/incident-filters.ts';
import { IncidentAddress, readRevision } from './incident/incident-address.tsx';
import { IncidentsPage } from './incidents/incidents.tsx';
import { KeysPage } from './settings/keys.tsx';
import { ServicePage } from './catalog/service.tsx';
import { Shell } from './shell/shell.tsx';
import { StartPage } from './settings/start.tsx';
import { readStatisticsSearch, StatisticsPage } from './incidents/statistics.tsx';
import { TeamPage } from './catalog/team.tsx';
import { UsersPage } from './settings/users.tsx';
import { WebhooksPage } from './settings/webhooks.tsx';
import { buttonClass } from './ui/button.tsx';
import { Empty } from './ui/states.tsx';
import ui from './ui/ui.module.css';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <div className={ui.page}>
      <Empty
        title="There is no such page"
        heading="h1"
        icon="search"
        action={
          <Link to="/" className={buttonClass()}>
            All incidents
          </Link>
        }
      >
        Press Ctrl+K to find an incident, a service or a page by its name.
      </Empty>
    </div>
  ),
});

const getParentRoute = () => root;

const routes = [
  createRoute({ getParentRoute, path: '/', validateSearch: readListSearch, component: IncidentsPage }),
  createRoute({ getParentRoute, path: '/incidents/$id', validateSearch: readRevision, component: IncidentAddress }),
  createRoute({ getParentRoute, path: '/follow-ups', validateSearch: readFollowUpsSearch, component: FollowUpsPage }),
  createRoute({ getParentRoute, path: '/statistics', validateSearch: readStatisticsSearch, component: StatisticsPage }),
  createRoute({ getParentRoute, path: '/catalog', component: CatalogPage }),
  createRoute({ getParentRoute, path: '/catalog/teams/$id', component: TeamPage }),
  createRoute({ getParentRoute, path: '/catalog/services/$id', component: ServicePage }),
  createRoute({ getParentRoute, path: '/fields', component: FieldsPage }),
  createRoute({ getParentRoute, path: '/alerts', validateSearch: readAlertsSearch, component: AlertsPage }),
  createRoute({ getParentRoute, path: '/destinations', component: DestinationsPage }),
  createRoute({ getParentRoute, path: '/trackers', component: TrackersPage }),
  createRoute({ getParentRoute, path: '/webhooks', component: WebhooksPage }),
  createRoute({ getParentRoute, path: '/users', component: UsersPage }),
  createRoute({ getParentRoute, path: '/keys', component: KeysPage }),
  createRoute({ getParentRoute, path: '/configuration', component: ConfigurationPage }),
  createRoute({ getParentRoute, path: '/start', component: StartPage }),
  createRoute({ getParentRoute, path: '/authorize', component: ConnectAgentPage }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/app',
  scrollRestoration: true,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
