import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { DomainError, parseJson, validate } from '@tocsin/http';
import { z } from 'zod';
import { planConfiguration as planCatalog } from '../../services/catalog/src/administration.ts';
import { planConfiguration as planIncident } from '../../services/incident/src/administration.ts';
import type { Given } from './command.ts';
import type { Target } from './target.ts';
import { workspaceView } from './views.ts';

/** npm runs commands in the project's folder, wherever it was called. */
const CALLED_FROM = process.env.INIT_CWD ?? '.';

const list = z.unknown().optional();

/** Whose each list is; what may stand in it, its owner knows. */
const incidentLists = { workflow_statuses: list, severities: list, exchange_rates: list, timeline_groups: list };
const catalogLists = { service_tiers: list };
const configurationFile = z.strictObject({ ...incidentLists, ...catalogLists });

/**
 * Replaces the lists that the file has (contract: Administration). Every owner judges its part before any of them writes;
 * the workspace's version, by which the change becomes visible, comes last.
 */
export async function configureWorkspace(given: Given, target: Target): Promise<Record<string, unknown>> {
  const slug = given.required('slug');
  const file = given.required('file');
  const { id } = await target.gateway.getWorkspace(slug);
  const configured = await explained(file, async () => {
    const lists = validate(configurationFile, parseJson(await readFile(path.resolve(CALLED_FROM, file))));
    const incident = target.database('incident');
    const catalog = target.database('catalog');
    const incidentPlan = await planIncident(incident, id, pick(lists, incidentLists));
    const catalogPlan = await planCatalog(catalog, id, pick(lists, catalogLists));
    return incident.transaction(async (incidentTrx) => ({
      ...(await incidentPlan.apply(incidentTrx)),
      // Inside the other, so that what this one refuses at the last moment undoes both.
      ...(await catalog.transaction(async (catalogTrx) => catalogPlan.apply(catalogTrx))),
    }));
  });
  return { workspace: workspaceView(await target.gateway.setWorkspace({ slug })), ...configured };
}

const pick = (lists: Record<string, unknown>, keys: object) =>
  Object.fromEntries(Object.entries(lists).filter(([key]) => Object.hasOwn(keys, key)));

/** Says where in the file a refusal has its reason. */
async function explained<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new Error(`${file} does not exist`, { cause: error });
    if (!(error instanceof DomainError)) throw error;
    throw new Error(`${file}: ${(error.field ?? '') === '' ? '' : `${error.field}: `}${message}`, { cause: error });
  }
}
