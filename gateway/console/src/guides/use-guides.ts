/**
 * `guides` shows the guides of the documents, which the gateway has as trees of elements and also serves as pages at
 * `/docs/guides`: no text becomes markup on the way. Their names are read when somebody opens the list or types into
 * the palette, and a guide with its page; neither is in the script of the first page. Links between guides stay in the
 * console, those to the contract lead to the API reference, and headings have addresses. Examples get the address of
 * the workspace, and whoever may make a key makes the one that a guide needs on its page.
 */
import { TocsinError } from '@tocsin/sdk';
import { useQuery } from '@tanstack/react-query';
import { tocsin } from '../api/client.ts';
import { failureOf } from '../api/failures.ts';

export type GuideNode = string | { tag: string; id?: string; href?: string; start?: number; children: GuideNode[] };

interface GuideName {
  /** Its last part of the path. */
  name: string;
  title: string;
}

/** Reads what a release does not change. */
const useDocument = <Body>(path: string, { enabled = true } = {}) =>
  useQuery<Body, TocsinError>({
    queryKey: [path],
    queryFn: async () => {
      try {
        return (await tocsin.request('GET', path)).body as Body;
      } catch (error) {
        throw failureOf(error);
      }
    },
    enabled,
    staleTime: Infinity,
  });

/** The names of all guides, by who needs them. */
export const useGuides = (options?: { enabled: boolean }) =>
  useDocument<{ groups: { title: string; guides: GuideName[] }[] }>('/docs/guides.json', options);

export const useGuide = (name: string) =>
  useDocument<{ guide: GuideName & { nodes: GuideNode[] } }>(`/docs/guides/${encodeURIComponent(name)}.json`);
