import type { IdempotencyKey } from '@tocsin/http';
import { outbox } from '@tocsin/messaging';
import { type Caller, chooseSlug, runVersionedTransaction } from '@tocsin/resources';
import { commitPipeline } from '@tocsin/postgres';
import { TEAM_SLUG } from '../domain/slug-rules.ts';
import type { Team } from '../domain/team.ts';
import { teamStore } from '../store/team-store.ts';
import type { Dependencies } from './context.ts';
import { teamChanged } from './events.ts';
import { teamProperties, type WireTeam } from './properties.ts';
import { checkParent } from './team-references.ts';

export interface CreateTeamCommand extends Caller {
  body: WireTeam & { name: string; slug?: string | undefined };
  key: IdempotencyKey | undefined;
  render: (team: Team) => string;
}

/**
 * Creates a team (contract: Catalog). The team, its event and the outcome of its Idempotency-Key are committed together.
 * @returns the text of the response
 * @throws DomainError `invalid_request` if the parent is not an active team, `invalid_resource_state` for the quota or the external ID,
 *   `duplicate_slug`
 */
export async function createTeam(dependencies: Dependencies, command: CreateTeamCommand): Promise<string> {
  const { principal, body, key, render } = command;
  const workspaceId = principal.workspace.id;
  const slugChoice = chooseSlug(body, TEAM_SLUG);
  const { parentTeamId = null, description = null, externalId = null } = teamProperties(body);

  return runVersionedTransaction(dependencies, command, async ({ trx, nextVersion }) => {
    await key?.lock(trx);
    const store = teamStore(trx, workspaceId);
    if (parentTeamId !== null) {
      await store.lockHierarchy();
      await checkParent(trx, { workspaceId, parentId: parentTeamId });
    }
    const version = await nextVersion();
    await store.checkQuota({ workspace: principal.workspace, isNew: true });
    if (externalId !== null) await store.checkExternalId(externalId);
    const now = dependencies.clock.now();
    const team = await store.insert(
      {
        workspaceId,
        revision: 1,
        name: body.name.trim(),
        slug: await store.resolveSlug(slugChoice),
        description,
        parentTeamId,
        externalId,
        memberCount: 0,
        createdAt: now,
        updatedAt: now,
        archivedAt: null,
      },
      version,
    );
    await outbox(trx).add(teamChanged(command, team, version));
    const text = render(team);
    if (key !== undefined) await commitPipeline(trx, [key.outcome({ status: 201, text, revision: team.revision })]);
    return text;
  });
}
