import type { GetIncidentPostmortemReply, PostmortemDocument, PostmortemSection } from '@tocsin/sdk';
import { read, write } from '../api/client.ts';
import { queryClient, refresh } from '../api/hooks.ts';
import { type Edit, type Target, useConflict, type Values } from '../resources/conflict.tsx';
import { postmortemState } from '../incidents/incident-labels.tsx';
import { formatValue } from '../ui/format.ts';
import { moved } from '../ui/move-tools.tsx';

/** What people write of a section. */
export type SectionTexts = Pick<PostmortemSection, 'title' | 'body'>;

export const textsOf = ({ title, body }: SectionTexts): SectionTexts => ({ title, body });

/** An edit names what it changes: the state, a section by its key, or how far a section moves. */
export const STATE = 'state';
export const sectionName = (key: string): string => `section ${key}`;
export const moveName = (key: string): string => `move ${key}`;

const path = (id: number): string => `/incidents/${id}/postmortem`;

const valuesOf = ({ state, sections }: PostmortemDocument): Values => ({
  [STATE]: state,
  ...Object.fromEntries(sections.map((section) => [sectionName(section.key), textsOf(section)])),
});

/** The sections with what an edit changes. One that is not among them, because it is new or was removed, comes last. */
function withChanges(sections: readonly PostmortemSection[], changes: Values): readonly PostmortemSection[] {
  return Object.entries(changes).reduce<readonly PostmortemSection[]>((before, [name, value]) => {
    const [verb] = name.split(' ', 1);
    const key = name.slice((verb?.length ?? 0) + 1);
    const index = before.findIndex((section) => section.key === key);
    if (verb === 'move') return index === -1 ? before : moved(before, index, value as number);
    if (verb !== 'section') return before;
    if (value === null) return before.filter((section) => section.key !== key);
    const section = { key, ...(value as SectionTexts) };
    return index === -1 ? [...before, section] : before.with(index, section);
  }, sections);
}

/** Shows the document that a response has. */
export async function showDocument(id: number, document: PostmortemDocument): Promise<void> {
  queryClient.setQueryData<GetIncidentPostmortemReply>([path(id)], (shown) => shown && { ...shown, document });
  await refresh(`${path(id)}/revisions`);
}

/** The post-mortem as it is saved: whole lists of sections, on the document that was read last. */
function documentOf(id: number, shown: PostmortemDocument): Target {
  let last = shown;
  return {
    read: async () => {
      const reply = await read<GetIncidentPostmortemReply>(path(id));
      queryClient.setQueryData([path(id)], reply);
      last = reply.document ?? last;
      return { values: valuesOf(last), revision: last.revision };
    },
    write: async (changes, { revision }) => {
      const { [STATE]: state, ...others } = changes;
      const body = {
        ...(state !== undefined && { state }),
        ...(Object.keys(others).length > 0 && { sections: withChanges(last.sections, others) }),
      };
      const { document } = await write<{ document: PostmortemDocument }>({
        ...{ method: 'PATCH', path: path(id), body, revision },
      });
      await showDocument(id, document);
    },
  };
}

/** Saves edits of a post-mortem. Those of different sections go together; whoever changes the same one is asked. */
export function useSavePostmortem(id: number, document: PostmortemDocument) {
  const { save, conflict } = useConflict({
    label: (name) => {
      if (name === STATE) return 'State';
      const key = name.slice(name.indexOf(' ') + 1);
      const { title = '' } = document.sections.find((section) => section.key === key) ?? {};
      return title === '' ? 'Section' : title;
    },
    value: (name, value) => {
      if (name === STATE) return postmortemState(String(value));
      const { title, body } = (value ?? {}) as Partial<SectionTexts>;
      return value === null || value === undefined ? formatValue(value) : [title, body].filter(Boolean).join('\n\n');
    },
  });
  return { conflict, save: async (edit: Edit) => save(edit, documentOf(id, document)) };
}
