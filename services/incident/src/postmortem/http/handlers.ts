import { buildPage, type Cursors, cursorsOf, DEFAULT_LIMIT, idempotently, notFound } from '@tocsin/http';
import { query } from '@tocsin/postgres';
import { definedProperties } from '@tocsin/versioned-resources';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import type { WrittenPostmortem } from '../domain/written.ts';
import { type PostmortemDependencies, readPostmortem } from '../read-postmortem.ts';
import { selectFormer, selectFormerVersion } from '../store/written-store.ts';
import { beginPostmortem, updatePostmortem } from '../write-postmortem.ts';
import type { PostmortemApi } from './contracts.ts';
import { postmortemDocument } from './document.ts';
import { htmlPage, PAGE_POLICY } from './page.ts';
import { formerView, postmortemView, sectionsView, writtenView } from './views.ts';

/** contract: Post-mortems */
export function postmortemHandlers(dependencies: PostmortemDependencies & { cursors: Cursors }): PostmortemApi {
  const { database } = dependencies;
  const revisions = cursorsOf(dependencies.cursors, { name: 'revision', keys: ['integer'] });
  return {
    getIncidentPostmortem: async ({ principal, params: { id }, wantsMarkdown, wantsHtml }) => {
      const facts = await readPostmortem(dependencies, { principal, id });
      const postmortem = postmortemView(facts, dependencies.clock.now());
      if (!wantsMarkdown && !wantsHtml)
        return { body: { postmortem, document: facts.written ? writtenView(facts.written) : null } };
      const markdown = await postmortemDocument(postmortem, facts);
      if (wantsMarkdown) return { markdown };
      const html = await htmlPage(`${postmortem.human_id}: ${postmortem.title}`, markdown);
      return { html, headers: { 'Content-Security-Policy': PAGE_POLICY } };
    },

    createIncidentPostmortem: async (request) => {
      const { principal, requestId, params, body } = request;
      const responseOf = (begun: WrittenPostmortem) => ({
        ...{ status: 201, text: JSON.stringify({ document: writtenView(begun) }) },
        revision: begun.revision,
      });
      const command = { principal, requestId, incidentId: params.id, sections: body.sections };
      return idempotently(database, request, async (key) =>
        responseOf(await beginPostmortem(dependencies, { ...command, outcome: key && { key, responseOf } })),
      );
    },

    updateIncidentPostmortem: async ({ principal, requestId, params: { id }, expectedRevision, body }) => {
      const changes = definedProperties<Pick<WrittenPostmortem, 'state' | 'sections'>>({
        state: body.state,
        sections: body.sections,
      });
      const command = { principal, requestId, incidentId: id, expectedRevision, changes };
      const written = await updatePostmortem(dependencies, command);
      return { body: { document: writtenView(written) }, revision: written.revision };
    },

    listIncidentPostmortemRevisions: async ({
      principal,
      params: { id },
      query: { limit = DEFAULT_LIMIT, cursor },
    }) => {
      const of = { workspaceId: principal.workspace.id, incidentId: id };
      await incidentStore(database, of.workspaceId).getVersion(id);
      const scope = { workspaceId: of.workspaceId, path: `/api/v1/incidents/${id}/postmortem/revisions` };
      const [before] = cursor === undefined ? [] : revisions.decode(cursor, scope);
      const { rows, pagination } = await buildPage({
        listed: await query(database, selectFormer(of, { limit: limit + 1, before })),
        limit,
        view: formerView,
        nextCursor: ({ revision }) => revisions.encode([revision], scope),
      });
      return { body: { former: rows, pagination } };
    },

    getIncidentPostmortemRevision: async ({ principal, params: { id, revision } }) => {
      const of = { workspaceId: principal.workspace.id, incidentId: id };
      await incidentStore(database, of.workspaceId).getVersion(id);
      const [former] = await query(database, selectFormerVersion(of, revision));
      if (former === undefined) throw notFound('The former revision of the post-mortem');
      return { body: { former: { ...formerView(former), sections: sectionsView(former.sections) } } };
    },
  };
}
