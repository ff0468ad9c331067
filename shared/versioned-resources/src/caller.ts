import type { EventWorkspace, Principal } from '@tocsin/schemas';

/** Who issues a command, and the request that it belongs to. */
export interface Caller {
  principal: Principal;
  requestId: string;
}

/** The properties of an event that tell which workspace and request caused it. */
export const eventOrigin = ({
  principal: { workspace },
  requestId,
}: Caller): { workspace: EventWorkspace; requestId: string } => ({
  workspace: { id: workspace.id, slug: workspace.slug, is_demo: workspace.is_demo },
  requestId,
});
