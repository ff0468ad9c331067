import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type OperationEntry, readerOf } from '@tocsin/sdk/operations';
import { Command, Option } from 'commander';
import { COLUMNS, commandWords } from './command-names.ts';
import { argumentFinder } from './find-id.ts';
import { flagsOf, readFlags } from './operation-flags.ts';
import { type OperationParameters, parseInput, parseJson, UsageError } from './operation-parameters.ts';
import type { Row } from './output.ts';
import { readBytes, readFlag } from './read-input.ts';
import type { Call, Session } from './session.ts';

/** Rows of a list, if nothing else is said. */
const ROWS = 50;
/** Rows of a page at most. */
const PAGE = 100;

interface Flags {
  [flag: string]: unknown;
  limit?: string;
  all?: boolean;
  data?: string;
  file?: string;
  output?: string;
  dryRun?: boolean;
  html?: boolean;
  idempotencyKey?: string;
  ifRevision?: string;
}

type Methods = Readonly<Record<string, (...args: unknown[]) => unknown>>;

/** The command of an operation. @param begin makes the call with the global options of the command */
export function operationCommand(
  id: string,
  operation: OperationEntry,
  parameters: OperationParameters,
  begin: (command: Command) => Call,
): Command {
  const [resource, verb] = commandWords(id, operation.name);
  const { method, summary, input, rows, isKeyed, hasRevision, hasMarkdown, hasHtml, isFile, path } = operation;
  const command = new Command(verb).description(summary);
  for (const name of parameters.arguments)
    command.argument(`<${argumentName(name)}>`, argumentFinder(path, name)?.words);
  for (const { flag, help, choices } of flagsOf(parameters)) {
    if (rows !== undefined && flag === 'limit') continue;
    const collect = (text: string, before: string[] | undefined) => [...(before ?? []), text];
    const option = new Option(`--${flag} <value>`, help).argParser(collect);
    // For help and completion; the server may know more, so it refuses what is wrong.
    if (choices !== undefined) option.argChoices = [...choices];
    command.addOption(option);
  }
  if (rows !== undefined) {
    command.option('--limit <rows>', `rows to print at most; default ${ROWS}`).option('--all', 'print all rows');
  }
  if (input === 'body') command.option('--data <json>', 'the body as JSON, @file or - for stdin; flags come on top');
  if (input === 'file') command.requiredOption('--file <file>', 'the file; - for stdin');
  if (isFile === true) command.requiredOption('--output <file>', 'where the file is written');
  if (isKeyed === true) command.option('--idempotency-key <key>', 'default: a new one');
  if (hasRevision === true) command.option('--if-revision <revision>', 'default: the current one, read before');
  if (hasMarkdown === true) command.addHelpText('after', '\nIt prints Markdown; with --json the same parts as JSON.');
  if (hasHtml === true) command.option('--html', 'print the HTML page');
  if (method !== 'GET') command.option('--dry-run', 'check the request, and carry out nothing (validate_only)');
  command.addHelpText(
    'after',
    `\nExample:\n  tocsin ${resource} ${verb} ${parameters.sample}\n\ntocsin describe ${id} explains it: ${method} ${path}`,
  );
  return command.action(async (...received: unknown[]) => {
    const flags = received.at(-2) as Flags;
    const args = received.slice(0, parameters.arguments.length) as string[];
    await run({ id, operation, parameters, call: begin(command), flags, args });
  });
}

interface Run {
  id: string;
  operation: OperationEntry;
  parameters: OperationParameters;
  call: Call;
  flags: Flags;
  args: string[];
}

async function run({ id, operation, parameters, call, flags, args }: Run): Promise<void> {
  const { input, rows, item, hasRevision, hasMarkdown, method, name, path } = operation;
  const { output } = call;
  const { signal } = call.session;
  const whole = await wholeOf(call.session, flags);
  const typed = readFlags(flagsOf(parameters), (flag) => flags[attributeOf(flag)]);
  const options: Row = {
    ...optionsOf(operation, flags, call),
    query: { ...nameOfFile(parameters, flags), ...typed.query },
  };
  const tocsin = await call.connect();
  const [resource = '', verb = ''] = name.split('.');
  const methods = tocsin[resource as 'incidents'] as unknown as Methods;
  const ids = await Promise.all(
    parameters.arguments.map(async (argument, index) => {
      const typed = { text: args[index] ?? '', what: `<${argumentName(argument)}>`, signal };
      return argumentFinder(path, argument)?.find(tocsin, typed) ?? typed.text;
    }),
  );
  const data = { ...whole, ...(await typed.resolve(tocsin, signal)) };
  const inputs =
    input === undefined ? [] : [input === 'file' ? await readBytes(call.session, flags.file ?? '-') : data];

  if (rows !== undefined) {
    const pages = (limit: number) =>
      (
        methods[verb]?.(...ids, { ...data, limit }, options) as { pages(): AsyncIterable<Record<string, Row[]>> }
      ).pages();
    await printRows(pages, { rows, flags, call, columns: COLUMNS[id] ?? COLUMNS[resource] });
    return;
  }
  if (input === 'body' && Object.keys(data).length === 0 && hasRevision === true)
    throw new UsageError(`nothing to change: see tocsin ${commandWords(id, name).join(' ')} --help`);
  if (hasMarkdown === true && call.options.json !== true) {
    const format = flags.html === true ? 'Html' : 'Markdown';
    output.line(((await methods[`${verb}${format}`]?.(...ids, options)) as string).trimEnd());
    return;
  }
  const body =
    hasRevision === true && options['ifRevision'] === undefined
      ? await update(methods, { verb, item: item ?? '', ids, data, options })
      : await methods[verb]?.(...ids, ...inputs, options);
  if (body instanceof Blob) {
    await writeFile(flags.output ?? '', await body.bytes());
    return;
  }
  if (flags.dryRun === true && method !== 'GET')
    output.note('nothing was written: this is what the request would give');
  const { not_recorded: missing } = (body ?? {}) as Row;
  if (Array.isArray(missing)) output.note(`not recorded, so not as it was then: ${missing.join(', ')}`);
  const list = id === 'listEvents' ? undefined : listIn(body);
  if (list !== undefined) {
    output.rows(list, COLUMNS[id] ?? COLUMNS[resource]);
    output.end();
  } else output.reply(body, item);
}

/** A change based on the current revision: it is made again when somebody else was faster. */
async function update(
  methods: Methods,
  { verb, item, ids, data, options }: { verb: string; item: string; ids: string[]; data: Row; options: Row },
): Promise<unknown> {
  if (options['validateOnly'] !== true) return methods[`${verb}With`]?.(...ids, () => data, options);
  const current = (await methods[readerOf(verb)]?.(...ids, {})) as Record<string, { revision: number }>;
  return methods[verb]?.(...ids, data, { ...options, ifRevision: current[item]?.revision });
}

/** What is uploaded has the name of its file, if nothing else is said. */
const nameOfFile = ({ query = {} }: OperationParameters, { file }: Flags): Row =>
  file !== undefined && file !== '-' && 'filename' in query ? { filename: basename(file) } : {};

/** The body of `--data`. */
async function wholeOf(session: Session, flags: Flags): Promise<Row> {
  const data = flags.data === undefined ? {} : parseJson('--data', await readFlag(session, flags.data));
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new UsageError('--data: is not an object');
  return data as Row;
}

/** As commander names the value of a flag. */
const attributeOf = (flag: string) => flag.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

/** `userId` is `user-id`. */
const argumentName = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function optionsOf({ hasRevision, isKeyed }: OperationEntry, flags: Flags, call: Call): Row {
  const { dryRun, idempotencyKey, ifRevision } = flags;
  return {
    signal: call.session.signal,
    ...(dryRun === true && { validateOnly: true }),
    ...(isKeyed === true && idempotencyKey !== undefined && { idempotencyKey }),
    ...(hasRevision === true &&
      ifRevision !== undefined && { ifRevision: parseInput('if_revision', 'integer', [ifRevision]) }),
  };
}

async function printRows(
  pages: (limit: number) => AsyncIterable<Record<string, Row[]>>,
  { rows, flags, call, columns }: { rows: string; flags: Flags; call: Call; columns: readonly string[] | undefined },
): Promise<void> {
  const limit = flags.limit === undefined ? ROWS : (parseInput('limit', 'integer', [flags.limit]) as number);
  if (limit < 1) throw new UsageError('--limit: must be at least 1');
  let left = flags.all === true ? Infinity : limit;
  for await (const page of pages(Math.min(left, PAGE))) {
    const shown = (page[rows] ?? []).slice(0, left);
    call.output.rows(shown, columns);
    left -= shown.length;
    const { has_more: hasMore } = page['pagination'] as unknown as { has_more: boolean };
    if (left > 0) continue;
    if (hasMore) call.output.note('there are more: --all, or a larger --limit');
    break;
  }
  call.output.end();
}

/** The rows of a response that is nothing but a list. */
function listIn(body: unknown): Row[] | undefined {
  const values = Object.values((body ?? {}) as Row);
  return values.length === 1 && Array.isArray(values[0]) ? (values[0] as Row[]) : undefined;
}
