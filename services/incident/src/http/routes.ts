/**
 * `http` is the API of the incident service as a whole: `contracts.ts` and `documentation.ts` join what the rooms
 * declare, and this file attaches their handlers; an operation without one does not compile. Each room has its
 * contracts, schemas and handlers in a folder `http` of its own. The description, the routes of the gateway and all
 * clients are generated from them. What is rendered of incidents is kept here for reads and lists of this process.
 * `internal-routes.ts` has what other services read: they name themselves by a principal of their own. Refusals of
 * alerts are recorded from here, because they include those by the form of a request, which no handler sees (contract:
 * Alerts).
 */
import { implement, type Route } from '@tocsin/http';
import { alertHandlers, alertRefusals } from '../alerts/http/handlers.ts';
import { bulkHandlers } from '../bulk/http/handlers.ts';
import { chatHandlers } from '../chat/http/handlers.ts';
import { configurationHandlers } from '../configuration/http/handlers.ts';
import { configurationChangeHandlers } from '../configuration-changes/http/handlers.ts';
import { creationHandlers } from '../creation/http/handlers.ts';
import { accessHandlers } from '../incidents/http/access-handlers.ts';
import { changelogHandlers, incidentHandlers } from '../incidents/http/handlers.ts';
import { renderedIncidents } from '../incidents/http/rendered-incidents.ts';
import { deletionHandlers } from '../deletion/http/handlers.ts';
import { retentionHandlers } from '../retention/http/handlers.ts';
import { followUpHandlers } from '../follow-ups/http/handlers.ts';
import { lifecycleHandlers } from '../lifecycle/http/handlers.ts';
import { listHandlers } from '../list/http/handlers.ts';
import { pictureHandlers } from '../pictures/http/handlers.ts';
import { postmortemHandlers } from '../postmortem/http/handlers.ts';
import { transferHandlers } from '../transfer/http/handlers.ts';
import { relationHandlers } from '../relations/http/handlers.ts';
import { timelineHandlers } from '../timeline/http/handlers.ts';
import { trackerHandlers } from '../trackers/http/handlers.ts';
import { valueHandlers } from '../values/http/handlers.ts';
import { contracts } from './contracts.ts';
import { visibleRoutes } from './visible-routes.ts';

/** What the rooms need together. */
type Dependencies = Omit<Parameters<typeof listHandlers>[0], 'rendered'> &
  Parameters<typeof creationHandlers>[0] &
  Parameters<typeof bulkHandlers>[0] &
  Parameters<typeof timelineHandlers>[0] &
  Parameters<typeof pictureHandlers>[0] &
  Parameters<typeof postmortemHandlers>[0] &
  Parameters<typeof chatHandlers>[0] &
  Parameters<typeof configurationChangeHandlers>[0] &
  Parameters<typeof transferHandlers>[0] &
  Parameters<typeof alertHandlers>[0] &
  Parameters<typeof trackerHandlers>[0];

/** The commands and queries of the API, from the rooms that have them. */
export function routes(dependencies: Dependencies): Route[] {
  const withRendered = { ...dependencies, rendered: renderedIncidents() };
  const handlers = {
    ...listHandlers(withRendered),
    ...creationHandlers(dependencies),
    ...incidentHandlers(withRendered),
    ...changelogHandlers(dependencies),
    ...accessHandlers(dependencies),
    ...lifecycleHandlers(dependencies),
    ...bulkHandlers(dependencies),
    ...relationHandlers(dependencies),
    ...timelineHandlers(dependencies),
    ...pictureHandlers(dependencies),
    ...postmortemHandlers(dependencies),
    ...followUpHandlers(dependencies),
    ...trackerHandlers(dependencies),
    ...valueHandlers(dependencies),
    ...chatHandlers(dependencies),
    ...configurationHandlers(dependencies),
    ...configurationChangeHandlers(dependencies),
    ...transferHandlers(dependencies),
    ...alertHandlers(dependencies),
    ...deletionHandlers(dependencies),
    ...retentionHandlers(dependencies),
  };
  return visibleRoutes(implement(contracts, handlers, alertRefusals(dependencies)), dependencies);
}
