import { throttleByWorkspace } from '@tocsin/http';
import type { Caller } from '@tocsin/resources';
import { withConfiguration } from '../configuration/with-configuration.ts';
import type { Configuration } from '../configuration/domain/configuration.ts';
import type { Dependencies } from '../dependencies.ts';
import { type ImportItem, type ImportResult, peopleOf, type Refusal } from './domain/item.ts';
import type { PreparedItem } from './domain/plan.ts';
import { prepareItems } from './prepare-items.ts';
import { withFreeExternalIds, writeItems } from './write-items.ts';

export interface ImportCommand extends Caller {
  items: readonly (ImportItem | Refusal)[];
}

/** An item with its place in the request. */
interface Placed {
  index: number;
  item: ImportItem;
}

/**
 * Imports incidents from other systems: creates them, or changes those that have the same source and ID (contract:
 * Import). An item that is refused stops no other. The imports of a workspace run one after the other, with pauses, and
 * two at a time in a process (ADR 63).
 * @throws DomainError `service_unavailable` if references cannot be checked
 */
export async function importIncidents(dependencies: Dependencies, command: ImportCommand): Promise<ImportResult[]> {
  const { principal, items } = command;
  const workspaceId = principal.workspace.id;
  const results: (ImportResult | undefined)[] = items.map((item) => ('outcome' in item ? item : undefined));
  const userIds = await findUserIds(dependencies, workspaceId, items);
  const run = async () => {
    for (const round of roundsOf(items)) {
      const written = await importRound(dependencies, { command, round, userIds });
      for (const [place, { index }] of round.entries()) results[index] = written[place];
    }
  };
  await throttleByWorkspace(workspaceId, async () => dependencies.importTurns.run(workspaceId, run));
  return results as ImportResult[];
}

/** Returns the IDs of the users with the addresses that items name, by lower case address. */
async function findUserIds(
  { transferServices }: Dependencies,
  workspaceId: number,
  items: ImportCommand['items'],
): Promise<Map<string, number>> {
  const people = items.flatMap((item) => ('outcome' in item ? [] : peopleOf(item)));
  const emails = [...new Set(people.flatMap(({ email }) => email?.toLowerCase() ?? []))];
  const users = emails.length === 0 ? [] : await transferServices.findPeople(workspaceId, { emails });
  return new Map(users.map(({ id, email }) => [email.toLowerCase(), id]));
}

/** Several items may be parts of one incident: each is written after those before it. */
function roundsOf(items: ImportCommand['items']): Placed[][] {
  const rounds: Placed[][] = [];
  const counts = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    if ('outcome' in item) continue;
    const count = counts.get(item.externalId) ?? 0;
    counts.set(item.externalId, count + 1);
    (rounds[count] ??= []).push({ index, item });
  }
  return rounds;
}

async function importRound(
  dependencies: Dependencies,
  options: { command: ImportCommand; round: readonly Placed[]; userIds: ReadonlyMap<string, number> },
): Promise<ImportResult[]> {
  const { command, round, userIds } = options;
  const work = async (configuration: Configuration): Promise<ImportResult[]> => {
    const now = dependencies.clock.now();
    const items = round.map(({ item }) => item);
    const prepared = await prepareItems(dependencies, { caller: command, items, configuration, userIds, now });
    const ready = prepared.filter((item): item is PreparedItem => !('outcome' in item));
    if (ready.length === 0) return prepared as Refusal[];
    const written = await writeItems(dependencies, { caller: command, items: ready, configuration, now });
    return prepared.map((item) => ('outcome' in item ? item : (written.shift() as ImportResult)));
  };
  return withFreeExternalIds(async () => withConfiguration(dependencies, command.principal.workspace, work));
}
