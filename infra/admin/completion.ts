import { ROOT } from '../environment.ts';
import type { Command } from './command.ts';

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** The name that a shell completes: it completes commands by their first word, and `npm` has a completion of its own. */
const FUNCTION = 'tocsin-admin';

/** A script that defines the function `tocsin-admin` in a shell, and completes its commands, flags and values. */
export function completionScript(shell: Shell, commands: readonly Command[]): string {
  return [
    `# Load it with: source <(npm run -s admin -- completion ${shell})`,
    `${FUNCTION}() { npm --prefix ${quote(ROOT)} run -s admin -- "$@"; }`,
    '',
    `_tocsin_admin_is_command() {`,
    `  case "$1" in`,
    `    ${prefixesOf(commands).map(quote).join('|')}) return 0 ;;`,
    `  esac`,
    `  return 1`,
    '}',
    '',
    '# Prints what may follow: the words of a command, or the values of the flag before.',
    `_tocsin_admin_candidates() {`,
    `  case "$1 $2" in`,
    ...valuesOf(commands).map(([key, values]) => `    ${quote(key)}) echo ${quote(values)}; return ;;`),
    `  esac`,
    `  case "$1" in`,
    ...wordsOf(commands).map(([prefix, words]) => `    ${quote(prefix)}) echo ${quote(words)} ;;`),
    `  esac`,
    '}',
    '',
    shell === 'bash' ? BASH : ZSH,
  ].join('\n');
}

/** Stands for the names of files. */
const FILES = '<files>';
/** Stands for a value that nobody can guess. */
const ANY = '<any>';

/** Words are taken from the line itself: bash would split `incidents:read` at the colon. */
const BASH = `_tocsin_admin() {
  local line=\${COMP_LINE:0:COMP_POINT} word before='' last='' candidates
  local current=\${line##*[[:space:]]}
  for word in \${line%"$current"}; do
    last=$word
    if [[ $word == ${FUNCTION} ]]; then continue; fi
    if _tocsin_admin_is_command "\${before:+$before }$word"; then before="\${before:+$before }$word"; fi
  done
  candidates=$(_tocsin_admin_candidates "$before" "$last")
  case "$candidates" in
    '${FILES}') COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null; return ;;
    '${ANY}') COMPREPLY=(); return ;;
  esac
  COMPREPLY=($(compgen -W "$candidates" -- "$current"))
  local prefix=\${current%"\${current##*:}"}
  if [[ $COMP_WORDBREAKS == *:* && -n $prefix ]]; then COMPREPLY=("\${COMPREPLY[@]#"$prefix"}"); fi
}
complete -F _tocsin_admin ${FUNCTION}`;

const ZSH = `_tocsin_admin() {
  local word before='' last='' candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    last=$word
    if _tocsin_admin_is_command "\${before:+$before }$word"; then before="\${before:+$before }$word"; fi
  done
  candidates=$(_tocsin_admin_candidates "$before" "$last")
  case "$candidates" in
    '${FILES}') _files ;;
    '${ANY}') ;;
    *) compadd -- \${=candidates} ;;
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _tocsin_admin ${FUNCTION}`;

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** Every command, and every beginning of one, by whole words. */
const prefixesOf = (commands: readonly Command[]) => [
  ...new Set(
    commands.flatMap(({ name }) => name.split(' ').map((_, index, words) => words.slice(0, index + 1).join(' '))),
  ),
];

/** The words that may follow each beginning of a command. */
function wordsOf(commands: readonly Command[]): [string, string][] {
  const next = new Map<string, Set<string>>();
  const add = (prefix: string, word: string): void => {
    next.set(prefix, (next.get(prefix) ?? new Set<string>()).add(word));
  };
  for (const { name, flags, argument } of commands) {
    name.split(' ').forEach((word, index, words) => add(words.slice(0, index).join(' '), word));
    for (const choice of argument?.choices ?? []) add(name, choice);
    for (const [flag, { negatable }] of Object.entries(flags)) {
      add(name, `--${flag}`);
      if (negatable === true) add(name, `--no-${flag}`);
    }
    add(name, '--json');
    add(name, '--help');
  }
  return [...next].map(([prefix, words]) => [prefix, [...words].join(' ')]);
}

/** The values of each flag that takes one, by command and flag. */
const valuesOf = (commands: readonly Command[]): [string, string][] =>
  commands.flatMap(({ name, flags }) =>
    Object.entries(flags)
      .filter(([, { value }]) => value !== undefined)
      .map(([flag, { choices, isFile }]): [string, string] => [
        `${name} --${flag}`,
        choices?.join(' ') ?? (isFile === true ? FILES : ANY),
      ]),
  );
