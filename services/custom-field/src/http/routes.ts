import type { Cursors, Route } from '@tocsin/http';
import type { Tools } from '../usecases/context.ts';
import { fieldRoutes } from './field-routes.ts';

/** What the routes' handlers work with; declaring the routes touches none of it. */
export interface RouteParts {
  tools: Tools;
  cursors: Cursors;
}

export function routes(parts: RouteParts): Route[] {
  return fieldRoutes(parts);
}
