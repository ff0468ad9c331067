import { type Cursors, implement, type Route } from '@tocsin/http';
import type { Dependencies } from '../usecases/context.ts';
import { contracts } from './contracts.ts';
import { fieldHandlers } from './field-handlers.ts';

export const routes = (dependencies: Dependencies, cursors: Cursors): Route[] =>
  implement(contracts, fieldHandlers(dependencies, cursors));
