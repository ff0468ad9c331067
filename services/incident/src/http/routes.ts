import type { Cursors, Route } from '@tocsin/http';
import type { Tools } from '../usecases/context.ts';
import type { AttachmentUrl } from './attachment-urls.ts';
import { channelNameRoutes } from './channel-name-routes.ts';
import { changelogRoutes } from './changelog-routes.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { incidentRoutes } from './incident-routes.ts';
import { lifecycleRoutes } from './lifecycle-routes.ts';
import { listRoutes } from './list-routes.ts';
import { provisioningRoutes } from './provisioning-routes.ts';
import { timelineRoutes } from './timeline-routes.ts';
import { valueRoutes } from './value-routes.ts';

/** What the routes' handlers work with; declaring the routes touches none of it. */
export interface RouteParts {
  tools: Tools;
  cursors: Cursors;
  attachmentUrl: AttachmentUrl;
}

export function routes(parts: RouteParts): Route[] {
  return [
    ...configurationRoutes(parts),
    ...incidentRoutes(parts),
    ...listRoutes(parts),
    ...lifecycleRoutes(parts),
    ...changelogRoutes(parts),
    ...timelineRoutes(parts),
    ...valueRoutes(parts),
    ...provisioningRoutes(parts),
    ...channelNameRoutes(parts),
  ];
}
