import type { Command } from './command.ts';
import { completionScript, SHELLS } from './completion.ts';
import { UsageError } from './target.ts';

/** @param all every command that the script is to complete, besides this one */
export const completionCommand = (all: readonly Command[]): Command => {
  const command: Command = {
    name: 'completion',
    summary: 'Print a script that completes the commands in a shell',
    argument: { name: 'shell', help: SHELLS.join(' or '), choices: SHELLS },
    flags: {},
    runFreely: async ({ argument }) => {
      const shell = SHELLS.find((each) => each === argument);
      if (shell === undefined) throw new UsageError(`shell: ${argument} is not one of ${SHELLS.join(', ')}`);
      return completionScript(shell, [...all, command]);
    },
  };
  return command;
};
