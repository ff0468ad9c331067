import type { Cursors, Route } from '@tocsin/http';
import type { Tools } from '../usecases/context.ts';
import { configurationRoutes } from './configuration-routes.ts';
import { memberRoutes } from './member-routes.ts';
import { serviceRoutes } from './service-routes.ts';
import { teamRoutes } from './team-routes.ts';

/** What the routes' handlers work with; declaring the routes touches none of it. */
export interface RouteParts {
  tools: Tools;
  cursors: Cursors;
}

export function routes(parts: RouteParts): Route[] {
  return [...configurationRoutes(parts), ...serviceRoutes(parts), ...teamRoutes(parts), ...memberRoutes(parts)];
}
