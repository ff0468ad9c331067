import type { Command } from './command.ts';
import { type CheckedWorkspace, workspaceBatches } from './doctor/check.ts';
import { rebuildReplicas } from './doctor/rebuild-replicas.ts';
import { OWNERS } from './doctor/replicas.ts';
import type { Target } from './target.ts';

const BATCH = 100;

async function workspacesOf(target: Target, slug: string | undefined) {
  if (slug === undefined) return workspaceBatches(target, BATCH);
  const { id, isDemo } = await target.gateway.getWorkspace(slug);
  return [[{ id, slug, is_demo: isDemo }]] satisfies CheckedWorkspace[][];
}

export const rebuild: Command = {
  flags: {
    workspace: { value: 'SLUG', help: 'only of this workspace' },
    owner: { value: 'SERVICE', help: 'only what this service owns', choices: OWNERS.map(({ app }) => app) },
  },
  table: { rows: 'rebuilt', columns: ['workspace', 'owner', 'version'] },
  run: async ({ workspace: slug, owner: app }: { workspace?: string; owner?: string }, target) => {
    const owners = OWNERS.filter((owner) => app === undefined || owner.app === app);
    const rebuilt = [];
    for await (const workspaces of await workspacesOf(target, slug)) {
      for (const workspace of workspaces) {
        for (const owner of owners) {
          const version = await rebuildReplicas(target, { workspace, owner });
          rebuilt.push({ workspace: workspace.slug, owner: owner.app, version });
        }
      }
    }
    return { rebuilt };
  },
};
