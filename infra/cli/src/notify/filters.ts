import type { Tocsin } from '@tocsin/sdk';
import { inputFinder } from '../find-id.ts';
import { UsageError } from '../operation-parameters.ts';

/** Keys and IDs that select events besides their types; undefined: all. */
export interface Filters {
  severities: ReadonlySet<string> | undefined;
  teams: ReadonlySet<number> | undefined;
  /** Whether events of restricted incidents are among them. */
  includesRestricted: boolean;
}

/** The keys and IDs of what a person names. @throws UsageError, Error or TocsinError if there is no such */
export async function findFilters(
  tocsin: Tocsin,
  { severity, team, includeRestricted = false }: { severity?: string; team?: string; includeRestricted?: boolean },
  signal: AbortSignal,
): Promise<Filters> {
  const { severities } = severity === undefined ? {} : await tocsin.configuration.listSeverities({ signal });
  const keys = severity?.split(',').map((name) => {
    const entry = severities?.find(({ key, label }) => key === name || label === name);
    if (entry !== undefined) return entry.key;
    const names = severities?.map(({ key }) => key).join(', ');
    throw new UsageError(`--severity: there is no severity ${name}; there are: ${names}`);
  });
  const teams = team?.split(',').map(async (text) => {
    const id = Number(await inputFinder('team_id')?.find(tocsin, { text, what: '--team', signal }));
    // A number is taken for an ID, which there may not be.
    return (await tocsin.teams.get(id, { signal })).team.id;
  });
  return {
    severities: keys && new Set(keys),
    teams: teams && new Set(await Promise.all(teams)),
    includesRestricted: includeRestricted,
  };
}
