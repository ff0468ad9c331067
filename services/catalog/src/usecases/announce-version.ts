import type { Tools } from './context.ts';

/**
 * Tells the replicas of the catalog that they are behind. Best effort: the version is announced again with the next change
 * and to whoever asks for changes, and the events carry the same news.
 */
export async function announceVersion(
  { versions, log }: Pick<Tools, 'versions' | 'log'>,
  { workspaceId, version }: { workspaceId: number; version: number },
): Promise<void> {
  try {
    await versions.raise('catalog', workspaceId, version);
  } catch (error) {
    log.warn({ err: error, workspace: workspaceId }, "the catalog's version cannot be announced");
  }
}
