import type { ExportedResources, Principal } from '@tocsin/schemas';
import { type Cursors, cursorsOf, type LineStream, throttleByWorkspace, type WaitingRequest } from '@tocsin/http';
import { query } from '@tocsin/postgres';
import { listsView } from '../configuration/domain/configuration-document.ts';
import { readWholeConfiguration } from '../configuration-changes/read-configuration.ts';
import { type ConfigurationDependencies, tierOwner } from '../configuration-changes/replace-configuration.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { replicatedTeams } from '../replicas/store/replica-reads.ts';
import { recordAccess } from '../visibility/store/access-store.ts';
import { type Person, personOf, USER_ID } from './domain/item.ts';
import { ChangedMeanwhile, incidentLines, pictureLines } from './incident-lines.ts';
import { incidentsAfter } from './store/export-store.ts';

const PATH = '/api/v1/exports/incidents';
/** Incidents that are read at once. */
const BATCH = 25;
/** Characters of lines after which they are sent. */
const PART_LENGTH = 524_288;
/** Attempts to make the lines of an incident that changes meanwhile, while none of them is made. */
const MAX_ATTEMPTS = 5;
/** Users whose names are kept for further lines. */
const MAX_USERS = 2_000;

export interface ExportDependencies extends Pick<ConfigurationDependencies, 'database' | 'clock'> {
  owners: Pick<Owners, 'readTiers' | 'prepareTiers' | 'findPeople' | 'readResources'>;
  cursors: Cursors;
  /** What an import of a line may have. */
  bodyBytes: number;
}

/**
 * Begins an export (contract: Export). It is read as fast as the client takes it, a part at a time, and what was read is
 * forgotten. The parts of a workspace's exports take at most half of the time.
 * @throws DomainError for a cursor of another list, or if there is no place for another stream
 */
export async function exportLines(
  dependencies: ExportDependencies,
  request: { principal: Principal; cursor: string | undefined; waiting: WaitingRequest },
): Promise<LineStream> {
  const { principal, cursor, waiting } = request;
  const { id: workspaceId } = principal.workspace;
  const positions = cursorsOf(dependencies.cursors, { name: 'number', keys: ['integer'] });
  const scope = { workspaceId, path: PATH };
  const [after] = cursor === undefined ? [undefined] : positions.decode(cursor, scope);
  waiting.begin();
  const cursorOf = (number: number) => positions.encode([number], scope);
  const parts = partsOf(dependencies, { principal, after, cursorOf });
  return {
    next: async () => {
      const part = await throttleByWorkspace(workspaceId, async () => parts.next());
      return part.value;
    },
  };
}

interface Export {
  principal: Principal;
  /** The number of the last incident that the client has; `undefined`: it has nothing. */
  after: number | undefined;
  cursorOf: (number: number) => string;
}

async function* partsOf(
  dependencies: ExportDependencies,
  { principal, after, cursorOf }: Export,
): AsyncGenerator<string[], undefined> {
  if (after === undefined) yield* front(dependencies, principal);
  const { database, clock } = dependencies;
  const people = knownPeople(dependencies, principal);
  const { id: workspaceId } = principal.workspace;
  let position = after ?? 0;
  for (;;) {
    const incidents = await query(database, incidentsAfter(workspaceId, position, BATCH));
    const restricted = incidents.filter((incident) => incident.restricted).map(({ id }) => id);
    if (restricted.length > 0) await recordAccess(database, principal, { incidentIds: restricted, now: clock.now() });
    const teamIds = incidents.flatMap(({ teamId }) => teamId ?? []);
    const teams = await replicatedTeams(database, workspaceId).findSlugs(teamIds);
    let part: string[] = [];
    let length = 0;
    for (const incident of incidents) {
      for await (const line of linesOf(incident, { dependencies, principal, people, teams })) {
        part.push(line);
        length += line.length;
        if (length < PART_LENGTH) continue;
        yield part;
        [part, length] = [[], 0];
      }
      position = incident.number;
    }
    if (incidents.length < BATCH) {
      yield [...part, JSON.stringify({ kind: 'end' })];
      return undefined;
    }
    yield [...part, JSON.stringify({ kind: 'position', cursor: cursorOf(position) })];
  }
}

/** What incidents refer to. */
async function* front(dependencies: ExportDependencies, { workspace }: Principal): AsyncGenerator<string[]> {
  const { database, clock, owners } = dependencies;
  const { id, slug, reporting_currency: currency } = workspace;
  const { lists } = await readWholeConfiguration(database, id, tierOwner(dependencies, id));
  const line = { kind: 'workspace', slug, exported_at: clock.now(), reporting_currency: currency };
  yield [JSON.stringify({ ...line, configuration: listsView(lists) })];
  for (const kind of ['team', 'service', 'field'] as const) {
    for (let after: string | null = ''; after !== null;) {
      const page: ExportedResources = await owners.readResources(id, { kind, after });
      yield page.resources.map((resource) => JSON.stringify({ kind, ...resource }));
      after = page.next;
    }
  }
}

type People = ReturnType<typeof knownPeople>;

/** Makes the lines of an incident as it is at one moment, which is a later one if it changes before the first line. */
async function* linesOf(
  listed: Incident,
  options: {
    dependencies: ExportDependencies;
    principal: Principal;
    people: People;
    teams: ReadonlyMap<number, string>;
  },
): AsyncGenerator<string> {
  const { dependencies, principal, people, teams } = options;
  const { database, bodyBytes } = dependencies;
  let incident = listed;
  for (let attempt = 1; ; attempt += 1) {
    let hasLine = false;
    const team = incident.teamId === null ? null : (teams.get(incident.teamId) ?? null);
    const context = { workspace: principal.workspace.slug, team, personOf: people.personOf };
    try {
      for await (const line of incidentLines(incident, { database, context, load: people.load, bodyBytes })) {
        hasLine = true;
        yield line;
      }
      yield* pictureLines(incident, { database, context });
      return;
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || hasLine || attempt === MAX_ATTEMPTS) throw error;
      const again = incidentsAfter(incident.workspaceId, incident.number - 1, 1);
      [incident = listed] = await query(database, again);
    }
  }
}

/** The users that lines name, with their addresses if the key may read them. */
function knownPeople({ owners }: ExportDependencies, { workspace, scopes }: Principal) {
  const users = new Map<number, Person>();
  const showsEmail = scopes.includes('users:read');
  return {
    personOf: (text: string): Person => personOf(text, users),
    load: async (texts: readonly string[]): Promise<void> => {
      const ids = new Set(texts.filter((text) => USER_ID.test(text)).map(Number));
      const missing = [...ids].filter((id) => Number.isSafeInteger(id) && !users.has(id));
      if (missing.length === 0) return;
      if (users.size > MAX_USERS) {
        users.clear();
        missing.splice(0, missing.length, ...ids);
      }
      for (const { id, name, email } of await owners.findPeople(workspace.id, { ids: missing })) {
        users.set(id, { name, ...(showsEmail && { email }) });
      }
    },
  };
}
