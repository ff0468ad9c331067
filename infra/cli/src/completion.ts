import type { Command } from 'commander';
import { UsageError } from './operation-parameters.ts';

/** The words that may follow those that were typed. */
export function candidates(program: Command, words: readonly string[]): string[] {
  let command = program;
  for (const word of words.slice(0, -1)) command = command.commands.find((each) => each.name() === word) ?? command;
  const current = words.at(-1) ?? '';
  const flags = [...command.options, ...program.options].map(({ long }) => long ?? '');
  return [...command.commands.map((each) => each.name()), ...flags].filter((word) => word.startsWith(current));
}

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_tocsin() {
  COMPREPLY=($(tocsin --complete "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _tocsin tocsin`,
  zsh: `_tocsin() {
  compadd -- \${(f)"$(tocsin --complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"}
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _tocsin tocsin`,
  fish: `complete -c tocsin -f -a '(tocsin --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** A script that a shell loads. @throws UsageError */
export function completionScript(shell: string): string {
  const script = SCRIPTS[shell];
  if (script === undefined) throw new UsageError(`there is no completion for ${shell}: use bash, zsh or fish`);
  return script;
}
