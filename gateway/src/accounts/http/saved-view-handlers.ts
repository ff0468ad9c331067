import { checkRevision, DomainError, jsonEqual } from '@tocsin/http';
import type { Dependencies } from '../run-command.ts';
import { savedViewStore, type SavedViews } from '../store/saved-view-store.ts';
import type { AccountApi } from './contracts.ts';

/** The views of the user whose token it is; no request names another user. */
export const savedViewHandlers = ({
  dependencies: { database, clock },
}: {
  dependencies: Dependencies;
}): Pick<AccountApi, 'getSavedViews' | 'replaceSavedViews'> => {
  const store = savedViewStore(database);
  return {
    getSavedViews: async ({ principal: { workspace, user_id: userId } }) =>
      reply(await store.find(workspace.id, userId)),

    replaceSavedViews: async ({ principal: { workspace, user_id: userId }, expectedRevision, body }) => {
      const views = body.views.map(({ name, search }) => ({ name: name.trim(), search }));
      const owner = { workspaceId: workspace.id, userId };
      const before = await store.find(workspace.id, userId);
      checkRevision(before.revision, expectedRevision);
      if (jsonEqual(before.views, views)) return reply(before);
      const revision = await store.replace(owner, { revision: expectedRevision, views }, clock.now());
      if (revision !== undefined) return reply({ revision, views });
      checkRevision((await store.find(workspace.id, userId)).revision, expectedRevision);
      throw new DomainError('permission_denied', "The token's owner is deactivated");
    },
  };
};

const reply = ({ revision, views }: SavedViews) => ({
  body: { saved_views: { revision, views: views.map(({ name, search }) => ({ name, search })) } },
  revision,
});
