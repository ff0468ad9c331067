import { isDeepStrictEqual } from 'node:util';
import { DomainError, invalidRequest, parseJson, validate } from '@tocsin/http';
import { z } from 'zod';
import { planConfiguration as planCatalog } from '../../services/catalog/src/administration.ts';
import { planConfiguration as planIncident } from '../../services/incident/src/administration.ts';
import type { FlagValues } from './command.ts';
import { readInputFile } from './read-input.ts';
import type { Target } from './target.ts';
import { workspaceView } from './views.ts';

/** Many times the size of the longest lists. */
const MAX_FILE_BYTES = 1_048_576;

const list = z.unknown().optional();

/** The lists of each service. The service itself validates their contents. */
const incidentLists = { workflow_statuses: list, severities: list, exchange_rates: list, timeline_groups: list };
const catalogLists = { service_tiers: list };
/** This command and `workspace show` print the workspace, too. */
const workspace = z.looseObject({}).optional();
const configurationFile = z.strictObject({ ...incidentLists, ...catalogLists, workspace });

/**
 * Replaces the lists that the file contains (contract: Administration). Each service validates its part before any of
 * them writes. The workspace's version is raised last: it makes the change visible.
 */
export async function configureWorkspace(values: FlagValues, target: Target): Promise<Record<string, unknown>> {
  const slug = values.required('slug');
  const file = values.required('file');
  const current = await target.gateway.getWorkspace(slug);
  const { id } = current;
  const content = await readInputFile(file, MAX_FILE_BYTES);
  const configured = await withFileName(file, async () => {
    const lists = validate(configurationFile, parseJson(content));
    checkUnchanged(lists.workspace ?? {}, workspaceView(current));
    const incident = target.database('incident');
    const catalog = target.database('catalog');
    const incidentPlan = await planIncident(incident, id, pickLists(lists, incidentLists));
    const catalogPlan = await planCatalog(catalog, id, pickLists(lists, catalogLists));
    return incident.transaction(async (incidentTrx) => ({
      ...(await incidentPlan.apply(incidentTrx)),
      // Inside the other transaction, so that a failure of this one rolls both back.
      ...(await catalog.transaction(async (catalogTrx) => catalogPlan.apply(catalogTrx))),
    }));
  });
  return { workspace: workspaceView(await target.gateway.setWorkspace({ slug })), ...configured };
}

/** The file may have the settings of the workspace as they are; this command does not change them. */
function checkUnchanged(given: Record<string, unknown>, current: Record<string, unknown>): void {
  const changed = Object.keys(given).find(
    (name) => name !== 'updated_at' && !isDeepStrictEqual(given[name], current[name]),
  );
  if (changed !== undefined) throw invalidRequest(`workspace.${changed}`, 'Must be as it is: workspace set changes it');
}

const pickLists = (lists: Record<string, unknown>, keys: object) =>
  Object.fromEntries(Object.entries(lists).filter(([key]) => Object.hasOwn(keys, key)));

/** Adds the file name and the field to the messages of errors. */
async function withFileName<Result>(file: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const { field = '', message } = error;
    throw new Error(`${file}: ${field === '' ? '' : `${field}: `}${message}`, { cause: error });
  }
}
