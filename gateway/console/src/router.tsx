import { createRootRoute, createRoute, createRouter } from '@tanstack/react-router';
import { readAlertsSearch } from './settings/alerts-search.ts';
import { readCatalogSearch } from './catalog/catalog-search.ts';
import { readFollowUpsSearch } from './follow-ups/follow-ups-search.ts';
import { readListSearch } from './incidents/incident-filters.ts';
import { IncidentAddress, readRevision } from './incident/incident-address.tsx';
import { IncidentsPage } from './incidents/incidents.tsx';
import { FailedPage, lazyPage, PendingPage } from './shell/lazy-page.tsx';
import { NotFoundPage } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { readStatisticsSearch } from './incidents/statistics-search.ts';

const webhookPages = async () => import('./settings/webhook-pages.ts');

/** The list and the incident are there at once: people in a hurry come for them. Every other page is loaded by itself. */
const pages = {
  CatalogPage: lazyPage(async () => import('./catalog/catalog.tsx'), 'CatalogPage'),
  ServicePage: lazyPage(async () => import('./catalog/service.tsx'), 'ServicePage'),
  TeamPage: lazyPage(async () => import('./catalog/team.tsx'), 'TeamPage'),
  FollowUpsPage: lazyPage(async () => import('./follow-ups/follow-ups.tsx'), 'FollowUpsPage'),
  PostmortemAddress: lazyPage(async () => import('./incident/postmortem.tsx'), 'PostmortemAddress'),
  StatisticsPage: lazyPage(async () => import('./incidents/statistics.tsx'), 'StatisticsPage'),
  AlertsPage: lazyPage(async () => import('./settings/alerts.tsx'), 'AlertsPage'),
  ConfigurationPage: lazyPage(async () => import('./settings/configuration.tsx'), 'ConfigurationPage'),
  DestinationsPage: lazyPage(async () => import('./settings/destinations.tsx'), 'DestinationsPage'),
  FieldsPage: lazyPage(async () => import('./settings/fields.tsx'), 'FieldsPage'),
  GuidesPage: lazyPage(async () => import('./guides/guides.tsx'), 'GuidesPage'),
  GuidePage: lazyPage(async () => import('./guides/guide.tsx'), 'GuidePage'),
  KeysPage: lazyPage(async () => import('./settings/keys.tsx'), 'KeysPage'),
  StartPage: lazyPage(async () => import('./settings/start.tsx'), 'StartPage'),
  TrackersPage: lazyPage(async () => import('./settings/trackers.tsx'), 'TrackersPage'),
  UsersPage: lazyPage(async () => import('./settings/users.tsx'), 'UsersPage'),
  WebhooksPage: lazyPage(webhookPages, 'WebhooksPage'),
  WebhookPage: lazyPage(webhookPages, 'WebhookPage'),
  DeliveryPage: lazyPage(webhookPages, 'DeliveryPage'),
  ConnectAgentPage: lazyPage(async () => import('./sign-in/connect-agent.tsx'), 'ConnectAgentPage'),
};

const root = createRootRoute({
  component: Shell,
  notFoundComponent: NotFoundPage,
});

const getParentRoute = () => root;

const routes = [
  createRoute({ getParentRoute, path: '/', validateSearch: readListSearch, component: IncidentsPage }),
  createRoute({ getParentRoute, path: '/incidents/$id', validateSearch: readRevision, component: IncidentAddress }),
  createRoute({ getParentRoute, path: '/incidents/$id/postmortem', component: pages.PostmortemAddress }),
  createRoute({
    getParentRoute,
    path: '/follow-ups',
    validateSearch: readFollowUpsSearch,
    component: pages.FollowUpsPage,
  }),
  createRoute({
    getParentRoute,
    path: '/statistics',
    validateSearch: readStatisticsSearch,
    component: pages.StatisticsPage,
  }),
  createRoute({ getParentRoute, path: '/catalog', validateSearch: readCatalogSearch, component: pages.CatalogPage }),
  createRoute({ getParentRoute, path: '/catalog/teams/$id', component: pages.TeamPage }),
  createRoute({ getParentRoute, path: '/catalog/services/$id', component: pages.ServicePage }),
  createRoute({ getParentRoute, path: '/fields', component: pages.FieldsPage }),
  createRoute({ getParentRoute, path: '/alerts', validateSearch: readAlertsSearch, component: pages.AlertsPage }),
  createRoute({ getParentRoute, path: '/destinations', component: pages.DestinationsPage }),
  createRoute({ getParentRoute, path: '/trackers', component: pages.TrackersPage }),
  createRoute({ getParentRoute, path: '/webhooks', component: pages.WebhooksPage }),
  createRoute({ getParentRoute, path: '/webhooks/$id', component: pages.WebhookPage }),
  createRoute({ getParentRoute, path: '/webhooks/$id/deliveries/$delivery', component: pages.DeliveryPage }),
  createRoute({ getParentRoute, path: '/users', component: pages.UsersPage }),
  createRoute({ getParentRoute, path: '/keys', component: pages.KeysPage }),
  createRoute({ getParentRoute, path: '/configuration', component: pages.ConfigurationPage }),
  createRoute({ getParentRoute, path: '/guides', component: pages.GuidesPage }),
  createRoute({ getParentRoute, path: '/guides/$name', component: pages.GuidePage }),
  createRoute({ getParentRoute, path: '/start', component: pages.StartPage }),
  createRoute({ getParentRoute, path: '/authorize', component: pages.ConnectAgentPage }),
] as const;

export const router = createRouter({
  routeTree: root.addChildren(routes),
  basepath: '/app',
  scrollRestoration: true,
  defaultPreload: 'intent',
  defaultPendingComponent: PendingPage,
  defaultErrorComponent: FailedPage,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
