import { DomainError, invalidRequest, jsonEqual, parseJson, validate } from '@tocsin/http';
import { z } from 'zod';
import { serviceTiers } from '../../services/catalog/src/administration.ts';
import { planConfiguration } from '../../services/incident/src/administration.ts';
import { type Command, slugFlag } from './command.ts';
import { readText } from './read-input.ts';
import type { Target } from './target.ts';
import { workspaceView } from './views.ts';

/** This command and `workspace show` print the workspace, too. The incident service validates the lists. */
const configurationFile = z.looseObject({ workspace: z.looseObject({}).optional() });

export const configure: Command = {
  flags: {
    slug: slugFlag,
    file: { value: 'FILE', help: 'a JSON file with the new lists', required: true },
  },
  run: configureWorkspace,
};

/**
 * Replaces the lists that the file contains, as the API does (contract: Administration). The workspace's version is raised
 * last: it makes the change visible.
 */
async function configureWorkspace(
  { slug, file }: { slug: string; file: string },
  target: Target,
): Promise<Record<string, unknown>> {
  const current = await target.gateway.getWorkspace(slug);
  const content = Buffer.from(await readText(file));
  const configured = await withFileName(file, async () => {
    const { workspace: settings = {}, ...part } = validate(configurationFile, parseJson(content));
    checkUnchanged(settings, workspaceView(current));
    const workspace = { id: current.id, slug, is_demo: current.isDemo };
    const incident = target.database('incident');
    const tiers = serviceTiers(target.database('catalog'), current.id);
    const plan = await planConfiguration(incident, { workspace, part, tiers });
    const { lists, tiersVersion } = await incident.transaction(async (trx) => plan.apply(trx));
    if (tiersVersion !== undefined) await tiers.settle(tiersVersion);
    return lists;
  });
  return { workspace: workspaceView(await target.gateway.setWorkspace({ slug })), ...configured };
}

/** The file may have the settings of the workspace as they are; this command does not change them. */
function checkUnchanged(given: Record<string, unknown>, current: Record<string, unknown>): void {
  const changed = Object.keys(given).find((name) => name !== 'updated_at' && !jsonEqual(given[name], current[name]));
  if (changed !== undefined) throw invalidRequest(`workspace.${changed}`, 'Must be as it is: workspace set changes it');
}

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
