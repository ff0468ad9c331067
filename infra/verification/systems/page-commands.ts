import { runAdmin } from '../../admin/run-admin.ts';

/** A block of commands of a page. */
export interface Block {
  /** What only some machines have. */
  needs: string | undefined;
  script: string;
}

/** The blocks of a page, in their order. */
export const blocksOf = (page: string): Block[] =>
  Array.from(page.matchAll(/^```sh(?: (\w+))?\n([^]*?)^```$/gm), ([, needs, script = '']) => ({ needs, script }));

/** The commands of blocks, each in one line. */
export const commandsOf = (blocks: readonly Block[]): string[] =>
  blocks.flatMap(({ script }) => script.replaceAll(/\\\n\s*/g, ' ').split('\n'));

/** The flags that commands of administration do not know, each with its command. */
export async function unknownFlags(commands: readonly string[]): Promise<string[]> {
  const unknown: string[] = [];
  for (const command of commands) {
    const [words = ''] = command.split(/ -/);
    const { output, error } = await runAdmin([...words.trim().split(' '), '--help'], {});
    for (const [flag] of command.matchAll(/--[a-z-]+/g))
      if (!`${output ?? ''}${error ?? ''}`.includes(flag)) unknown.push(`${command}: ${flag}`);
  }
  return unknown;
}
