import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { CatalogPage } from './pages/catalog.tsx';
import { ConfigurationPage } from './pages/configuration.tsx';
import { FieldsPage } from './pages/fields.tsx';
import { readListSearch } from './pages/incident-filters.ts';
import { IncidentPage } from './pages/incident.tsx';
import { IncidentsPage } from './pages/incidents.tsx';
import { KeysPage } from './pages/keys.tsx';
import { Shell } from './pages/shell.tsx';
import { StartPage } from './pages/start.tsx';
import { readStatisticsSearch, StatisticsPage } from './pages/statistics.tsx';
import { TeamPage } from './pages/team.tsx';
import { UsersPage } from './pages/users.tsx';
import { WebhooksPage } from './pages/webhooks.tsx';
import { Empty, Page } from './ui/ui.tsx';

const root = createRootRoute({
  component: Shell,
  notFoundComponent: () => (
    <Page title="Not found">
      <Empty title="There is no such page" />
    </Page>
  ),
});

const getParentRoute = () => root;

const routes = [
  createRoute({ getParentRoute, path: '/', validateSearch: readListSearch, component: IncidentsPage }),
  createRoute({ getParentRoute, path: '/incidents/$id', component: IncidentPage }),
  createRoute({ getParentRoute, path: '/statistics', validateSearch: readStatisticsSearch, component: StatisticsPage }),
  createRoute({ getParentRoute, path: '/catalog', component: CatalogPage }),
  createRoute({ getParentRoute, path: '/catalog/teams/$id', component: TeamPage }),
  createRoute({ getParentRoute, path: '/fields', component: FieldsPage }),
  createRoute({ getParentRoute, path: '/webhooks', component: WebhooksPage }),
  createRoute({ getParentRoute, path: '/users', component: UsersPage }),
  createRoute({ getParentRoute, path: '/keys', component: KeysPage }),
  createRoute({ getParentRoute, path: '/configuration', component: ConfigurationPage }),
  createRoute({ getParentRoute, path: '/start', component: StartPage }),
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
