import type { Command } from 'commander';
import { UsageError } from './operation-parameters.ts';

/** The words that may follow those that were typed; none where a shell offers names of files. */
export function candidates(program: Command, words: readonly string[]): string[] {
  let command = program;
  for (const word of words.slice(0, -1)) command = command.commands.find((each) => each.name() === word) ?? command;
  const current = words.at(-1) ?? '';
  const flag = command.options.find(({ long, required }) => required && long === words.at(-2));
  const flags = [...command.options, ...program.options].map(({ long }) => long ?? '');
  const names = [...command.commands.map((each) => each.name()), ...(command.registeredArguments[0]?.argChoices ?? [])];
  return (flag === undefined ? [...names, ...flags, '--help'] : (flag.argChoices ?? [])).filter((word) =>
    word.startsWith(current),
  );
}

/** Words come from the line, because bash splits them at colons too; then it keeps what is before the colon. */
const SCRIPTS: Readonly<Record<string, (name: string) => string>> = {
  bash: (name) => `_${name}() {
  local line=\${COMP_LINE:0:COMP_POINT} words
  local current=\${line##*[[:space:]]}
  read -ra words <<< "\${line%"$current"}"
  COMPREPLY=($(${name} --complete "\${words[@]:1}" "$current" 2>/dev/null))
  if [[ $COMP_WORDBREAKS == *:* ]]; then COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}"); fi
}
complete -o default -F _${name} ${name}`,
  zsh: (name) => `_${name}() {
  compadd -- \${(f)"$(${name} --complete "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _${name} ${name}`,
  fish: (name) =>
    `complete -c ${name} -f -a '(${name} --complete (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

/** A script that a shell loads, to complete the command `name`. @throws UsageError */
export function completionScript(shell: string, name = 'tocsin'): string {
  const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
  if (script === undefined) throw new UsageError(`there is no completion for ${shell}: use bash, zsh or fish`);
  return script(name);
}
