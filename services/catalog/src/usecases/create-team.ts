import type { IdempotencyClaim } from '@tocsin/http';
import { TEAM_SLUG } from '../domain/slug.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import { change } from './change.ts';
import type { Caller, Tools } from './context.ts';
import { newSlug } from './new-slug.ts';
import { teamProperties, type WireTeam } from './properties.ts';
import { checkParent } from './references.ts';
import { announceTeam } from './save-team.ts';

export interface CreateTeamCommand extends Caller {
  body: WireTeam & { name: string; slug?: string | undefined };
  claim: IdempotencyClaim | undefined;
  render: (team: Team) => string;
}

/**
 * Adds a team (contract: Catalog): the team, its event and the outcome of its Idempotency-Key commit together.
 * @returns the answer's text
 * @throws DomainError `invalid_request` for a parent that is not there, `duplicate_slug`
 */
export async function createTeam(tools: Tools, command: CreateTeamCommand): Promise<string> {
  const { principal, body, claim, render } = command;
  const workspaceId = principal.workspace.id;
  const findSlug = newSlug(body, TEAM_SLUG);
  const { parentTeamId = null, description = null } = teamProperties(body);

  return change(tools, command, async ({ trx, nextVersion }) => {
    const store = teamStore(trx, workspaceId);
    if (parentTeamId !== null) {
      await store.lockHierarchy();
      await checkParent(trx, { workspaceId, parentId: parentTeamId });
    }
    const version = await nextVersion();
    const now = tools.clock.now();
    const team = await store.insert(
      {
        workspaceId,
        revision: 1,
        name: body.name.trim(),
        slug: await findSlug(trx, { table: 'teams', workspaceId }),
        description,
        parentTeamId,
        memberCount: 0,
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    await announceTeam({ trx, caller: command, team, version });
    const text = render(team);
    await claim?.finish(trx, { status: 201, text, revision: team.revision });
    return text;
  });
}
