import { type PostmortemDependencies, readPostmortem } from '../read-postmortem.ts';
import type { PostmortemApi } from './contracts.ts';
import { postmortemDocument } from './document.ts';
import { postmortemView } from './views.ts';

/** contract: Post-mortems */
export const postmortemHandlers = (dependencies: PostmortemDependencies): PostmortemApi => ({
  getIncidentPostmortem: async ({ principal, params: { id }, wantsMarkdown }) => {
    const facts = await readPostmortem(dependencies, { principal, id });
    const postmortem = postmortemView(facts, dependencies.clock.now());
    return wantsMarkdown
      ? { markdown: await postmortemDocument(postmortem, facts.template) }
      : { body: { postmortem } };
  },
});
