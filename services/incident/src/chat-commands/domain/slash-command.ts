import { namedPerson, plainText } from './slack-text.ts';

/** What somebody asks for in the chat. Without a reference, it is about the incident of the channel. */
export type SlashCommand =
  | { name: 'help' }
  | { name: 'declare'; title: string; severity: string | undefined; service: string | undefined }
  | { name: 'resolve'; reference: string | undefined }
  | { name: 'update' | 'status' | 'severity' | 'follow-up'; reference: string | undefined; text: string }
  /** @param person the ID of a user of the chat; undefined: whoever asks */
  | { name: 'lead'; reference: string | undefined; person: string | undefined };

/** What is wrong with a command, for people. */
export interface Misspelt {
  problem: string;
}

export const USAGE = `/tocsin declare <title> [severity:sev1] [service:checkout]
/tocsin update [INC-12] <text>
/tocsin status [INC-12] <status>
/tocsin severity [INC-12] <severity>
/tocsin lead [INC-12] me, or @somebody
/tocsin resolve [INC-12]
/tocsin follow-up [INC-12] <title>
Without a reference, a command is about the incident of the channel.`;

const NAMED = ['update', 'status', 'severity', 'follow-up'] as const;
/** What each of them lacks without a text. */
const LACKS = { update: 'a text', status: 'a status', severity: 'a severity', 'follow-up': 'a title' };

const OPTION = /(?<=^|\s)(severity|service):(?:"([^"]*)"|(\S+))/gi;

/** Reads the text of a command, as Slack sends it. */
export function parseCommand(input: string): SlashCommand | Misspelt {
  const [word, operands] = firstWord(input);
  const name = word.toLowerCase();
  if (name === '' || name === 'help') return { name: 'help' };
  if (name === 'declare') return readDeclare(plainText(operands));
  const [first, behind] = firstWord(operands);
  const isReference = /^INC-\d{1,15}$/i.test(first);
  const reference = isReference ? first.toUpperCase() : undefined;
  const given = isReference ? behind : operands;
  if (name === 'resolve') {
    return given === '' ? { name, reference } : { problem: '“resolve” takes nothing but the reference of an incident' };
  }
  if (name === 'lead') return readLead(reference, given);
  const command = NAMED.find((each) => each === name);
  if (command === undefined) return { problem: `There is no command “${plainText(word)}”\n${USAGE}` };
  const text = plainText(given);
  return text === '' ? { problem: `“${command}” lacks ${LACKS[command]}` } : { name: command, reference, text };
}

function readLead(reference: string | undefined, given: string): SlashCommand | Misspelt {
  if (given.toLowerCase() === 'me') return { name: 'lead', reference, person: undefined };
  const person = namedPerson(given);
  return person === undefined
    ? { problem: '“lead” takes “me”, or somebody with @, whom Slack must offer and complete' }
    : { name: 'lead', reference, person };
}

function readDeclare(text: string): SlashCommand | Misspelt {
  const options = new Map<string, string>();
  let problem: string | undefined;
  const title = text
    .replaceAll(OPTION, (_, name: string, quoted: string | undefined, bare: string | undefined) => {
      const option = name.toLowerCase();
      if (options.has(option)) problem = `“${option}” is given twice`;
      options.set(option, quoted ?? bare ?? '');
      return '';
    })
    .trim();
  if (problem !== undefined) return { problem };
  if (title === '') return { problem: '“declare” lacks a title' };
  return { name: 'declare', title, severity: options.get('severity'), service: options.get('service') };
}

/** The first word of a text, and what is behind it. */
function firstWord(text: string): [string, string] {
  const trimmed = text.trim();
  const end = trimmed.search(/\s/);
  return end === -1 ? [trimmed, ''] : [trimmed.slice(0, end), trimmed.slice(end).trim()];
}
